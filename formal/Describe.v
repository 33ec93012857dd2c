(* Double description: from rays that describe a cone to rays that describe it cut by one more row.

   A ray is stored with the rows in which it is tight, as bits, the newest row first. Rays within the
   new row stay. For each ray within and each beyond it some ray of the cut cone must be tight in all
   rows in which both are, and in the new one. That is all that soundness asks: where it does not
   hold, the mixture of the two that is tight in the new row is added. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool Classical.
Require Import Definitions Sums Spanned.
Import ListNotations.
Open Scope Z_scope.

Definition ray := (list Z * N)%type.

Fixpoint tight_in (rows : list (list Z)) (r : list Z) : N :=
  match rows with
  | [] => 0%N
  | f :: rest => if times f r =? 0 then N.succ_double (tight_in rest r) else N.double (tight_in rest r)
  end.

Definition includes (a b : N) : bool := N.eqb (N.land a b) b.

(* The rays within the row f: it is the newest. *)
Fixpoint kept (sided : list (Z * ray)) : list ray :=
  match sided with
  | [] => []
  | (s, (r, b)) :: rest =>
      if s =? 0 then (r, N.succ_double b) :: kept rest
      else if 0 <? s then (r, N.double b) :: kept rest else kept rest
  end.

Definition shortened (r : list Z) : list Z :=
  let shared := fold_left Z.gcd r 0 in
  if shared <=? 1 then r else map (fun v => v / shared) r.

Definition mixed (s t : Z) (q r : list Z) : list Z :=
  shortened (map (fun p => t * fst p - s * snd p) (combine q r)).

(* At most two of the rays are tight in all rows in which two of them are. *)
Fixpoint few (n : nat) (both : N) (rays : list ray) : bool :=
  match rays with
  | [] => true
  | (_, b) :: rest =>
      if includes b both then match n with O => false | S n' => few n' both rest end
      else few n both rest
  end.

Definition pairs_of (sided : list (Z * ray)) : list ((Z * ray) * (Z * ray)) :=
  list_prod (filter (fun p => fst p <? 0) sided) (filter (fun p => 0 <? fst p) sided).

(* Mixtures of pairs that are adjacent: only a guess of what will be needed. *)
Definition adjacent (rays : list ray) (couple : (Z * ray) * (Z * ray)) : bool :=
  few 2 (N.land (snd (snd (fst couple))) (snd (snd (snd couple)))) rays.

Definition mixture (rows : list (list Z)) (couple : (Z * ray) * (Z * ray)) : ray :=
  let '((s, (q, _)), (t, (r, _))) := couple in
  let new := mixed s t q r in (new, tight_in rows new).

Definition covers (want : N) (rays : list ray) : bool :=
  existsb (fun p => includes (snd p) want) rays.

Fixpoint cover (k : nat) (rows : list (list Z)) (pairs : list ((Z * ray) * (Z * ray))) (rays : list ray)
    : option (list ray) :=
  match pairs with
  | [] => Some rays
  | couple :: rest =>
      let want := N.succ_double (N.land (snd (snd (fst couple))) (snd (snd (snd couple)))) in
      if covers want rays then cover k rows rest rays
      else
        let new := mixture rows couple in
        if is_ray k rows (fst new) && includes (snd new) want then cover k rows rest (new :: rays)
        else None
  end.

Definition cut_by (k : nat) (rows : list (list Z)) (f : list Z) (rays : list ray)
    : option (list ray) :=
  let sided := map (fun p => (times f (fst p), p)) rays in
  let pairs := pairs_of sided in
  let guessed := map (mixture (f :: rows)) (filter (adjacent rays) pairs) in
  let sure := filter (fun p => is_ray k (f :: rows) (fst p)) guessed in
  cover k (f :: rows) pairs (sure ++ kept sided).

Fixpoint cut_all (k : nat) (more rows : list (list Z)) (rays : list ray)
    : option (list (list Z) * list ray) :=
  match more with
  | [] => Some (rows, rays)
  | f :: rest =>
      if Nat.eqb (length f) k then
        match cut_by k rows f rays with
        | Some rays' => cut_all k rest (f :: rows) rays'
        | None => None
        end
      else None
  end.

(* Rays of the cone of nonnegative columns that keep all rows f . q >= 0. *)
Definition rays_of (k : nat) (more : list (list Z)) : option (list (list Z)) :=
  let rows := unit_rows k in
  match cut_all k more rows (map (fun r => (r, tight_in rows r)) rows) with
  | Some (_, rays) => Some (map fst rays)
  | None => None
  end.

(* ---- proofs ----------------------------------------------------------------------------------- *)

Lemma tight_in_bits : forall rows r i,
  N.testbit (tight_in rows r) (N.of_nat i) =
  match nth_error rows i with Some f => times f r =? 0 | None => false end.
Proof.
  induction rows as [|f rows]; intros r i; [destruct i; reflexivity|].
  cbn [tight_in]. destruct i.
  - cbn [nth_error]. destruct (times f r =? 0); [rewrite N.succ_double_spec; apply N.testbit_odd_0|].
    rewrite N.double_spec. apply N.testbit_even_0.
  - rewrite Nat2N.inj_succ. cbn [nth_error]. rewrite <- IHrows.
    destruct (times f r =? 0).
    + rewrite N.succ_double_spec. apply N.testbit_odd_succ. lia.
    + rewrite N.double_spec. apply N.testbit_even_succ. lia.
Qed.

Lemma tight_in_spec : forall rows r i f, nth_error rows i = Some f ->
  (N.testbit (tight_in rows r) (N.of_nat i) = true <-> times f r = 0).
Proof. intros rows r i f H. rewrite tight_in_bits, H. apply Z.eqb_eq. Qed.

Lemma includes_spec : forall a b i, includes a b = true -> N.testbit b i = true -> N.testbit a i = true.
Proof.
  intros a b i H B. unfold includes in H. apply N.eqb_eq in H. rewrite <- H in B.
  rewrite N.land_spec in B. apply andb_true_iff in B as [A _]. exact A.
Qed.

Open Scope R_scope.

(* What the list of rays keeps to, at each step. *)
Definition exact (k : nat) (rows : list (list Z)) (p : ray) : Prop :=
  is_ray k rows (fst p) = true /\ snd p = tight_in rows (fst p).

Definition grounded (k : nat) (rows : list (list Z)) : Prop :=
  (forall f, In f rows -> length f = k) /\ incl (unit_rows k) rows.

Lemma exact_poly : forall k rows p, exact k rows p -> poly rows (column (fst p)).
Proof.
  intros k rows p [H _] f I. unfold is_ray in H. apply andb_true_iff in H as [_ H].
  rewrite forallb_forall in H. rewrite <- times_dot. apply IZR_le, Z.leb_le, H, I.
Qed.

Lemma exact_loose : forall k rows p, grounded k rows -> exact k rows p ->
  exists f, In f rows /\ 0 < dot f (column (fst p)).
Proof.
  intros k rows p [_ U] [H _]. unfold is_ray in H. apply andb_true_iff in H as [H _].
  apply andb_true_iff in H as [L H]. apply Nat.eqb_eq in L. apply existsb_exists in H as (v & I & V).
  apply Z.ltb_lt, IZR_lt in V. apply In_nth with (d := 0%Z) in I as (x & X & E).
  rewrite L in X. eexists. split; [apply U, unit_rows_in, X|]. rewrite unit_row_dot by exact X.
  unfold column. rewrite E. exact V.
Qed.

Lemma tighter_of_bits : forall rows r q want, includes (tight_in rows r) want = true ->
  (forall i f, nth_error rows i = Some f -> dot f q = 0 -> N.testbit want (N.of_nat i) = true) ->
  tighter rows (column r) q.
Proof.
  intros rows r q want H W f I E. apply In_nth_error in I as (i & I).
  specialize (W i f I E). apply (includes_spec _ _ _ H), (tight_in_spec rows r i f I) in W.
  rewrite <- times_dot, W. reflexivity.
Qed.

Lemma kept_in : forall sided p, In p (kept sided) -> exists s r b, In (s, (r, b)) sided /\
  (0 <= s)%Z /\ p = (r, if (s =? 0)%Z then N.succ_double b else N.double b).
Proof.
  induction sided as [|[s [r b]] sided]; intros p I; [destruct I|]. cbn [kept] in I.
  destruct (s =? 0)%Z eqn:E.
  - destruct I as [<- | I].
    + exists s, r, b. rewrite E. apply Z.eqb_eq in E. split; [left; reflexivity | split; [lia | reflexivity]].
    + destruct (IHsided p I) as (s' & r' & b' & J & S). exists s', r', b'. split; [right; exact J | exact S].
  - destruct (0 <? s)%Z eqn:P.
    + destruct I as [<- | I].
      * exists s, r, b. rewrite E. apply Z.ltb_lt in P. split; [left; reflexivity | split; [lia | reflexivity]].
      * destruct (IHsided p I) as (s' & r' & b' & J & S). exists s', r', b'. split; [right; exact J | exact S].
    + destruct (IHsided p I) as (s' & r' & b' & J & S). exists s', r', b'. split; [right; exact J | exact S].
Qed.

Lemma in_kept : forall sided s r b, In (s, (r, b)) sided -> (0 <= s)%Z ->
  In (r, if (s =? 0)%Z then N.succ_double b else N.double b) (kept sided).
Proof.
  induction sided as [|[s' [r' b']] sided]; intros s r b I S; [destruct I|]. cbn [kept].
  destruct I as [E | I].
  - injection E as -> -> ->. destruct (s =? 0)%Z eqn:E; [left; reflexivity|].
    replace (0 <? s)%Z with true; [left; reflexivity|].
    apply Z.eqb_neq in E. symmetry. apply Z.ltb_lt. lia.
  - specialize (IHsided s r b I S). destruct (s' =? 0)%Z; [right; exact IHsided|].
    destruct (0 <? s')%Z; [right; exact IHsided | exact IHsided].
Qed.

Lemma cover_sound : forall k rows pairs rays rays', Forall (exact k rows) rays ->
  cover k rows pairs rays = Some rays' ->
  Forall (exact k rows) rays' /\ incl rays rays' /\
  forall s q a t r b, In ((s, (q, a)), (t, (r, b))) pairs ->
    exists p, In p rays' /\ includes (snd p) (N.succ_double (N.land a b)) = true.
Proof.
  intros k rows. induction pairs as [|couple pairs]; intros rays rays' X E; cbn [cover] in E.
  - injection E as <-. split; [exact X|]. split; [apply incl_refl|]. intros. destruct H.
  - set (want := N.succ_double _) in E. destruct (covers want rays) eqn:C.
    + destruct (IHpairs rays rays' X E) as (X' & I & P). split; [exact X'|]. split; [exact I|].
      intros s q a t r b [-> | J]; [|apply (P s q a t r b J)].
      apply existsb_exists in C as (p & J & S). exists p. split; [apply I, J | exact S].
    + destruct (is_ray k rows (fst (mixture rows couple)) && includes (snd (mixture rows couple)) want) eqn:V;
        [|discriminate]. apply andb_true_iff in V as [V W].
      assert (XN : exact k rows (mixture rows couple)).
      { split; [exact V|]. destruct couple as [[s [q a]] [t [r b]]]. reflexivity. }
      destruct (IHpairs _ rays' (Forall_cons _ XN X) E) as (X' & I & P). split; [exact X'|].
      split; [intros p J; apply I; right; exact J|].
      intros s q a t r b [-> | J]; [|apply (P s q a t r b J)].
      eexists. split; [apply I; left; reflexivity | exact W].
Qed.

Lemma mixture_exact : forall k rows couple, is_ray k rows (fst (mixture rows couple)) = true ->
  exact k rows (mixture rows couple).
Proof. intros k rows [[s [q a]] [t [r b]]] V. split; [exact V | reflexivity]. Qed.

Theorem cut_by_sound : forall k rows f rays rays', grounded k rows -> length f = k ->
  Forall (exact k rows) rays -> described k rows (map fst rays) ->
  cut_by k rows f rays = Some rays' ->
  Forall (exact k (f :: rows)) rays' /\ described k (f :: rows) (map fst rays').
Proof.
  intros k rows f rays rays' G LF X D E. unfold cut_by in E.
  set (sided := map (fun p => (times f (fst p), p)) rays) in *.
  assert (XK : Forall (exact k (f :: rows)) (kept sided)).
  { apply Forall_forall. intros p I. destruct (kept_in _ _ I) as (s & r & b & J & S & ->).
    apply in_map_iff in J as ([r' b'] & E' & J). cbn [fst] in E'. injection E' as <- <- <-.
    rewrite Forall_forall in X. destruct (X _ J) as [V B]. cbn [fst snd] in *. split; cbn [fst snd].
    - unfold is_ray in *. apply andb_true_iff in V as [V W]. rewrite V. cbn [forallb].
      rewrite W. simpl. rewrite andb_true_r. apply Z.leb_le, S.
    - cbn [tight_in]. rewrite B. reflexivity. }
  apply cover_sound with (k := k) in E.
  2: { apply Forall_app. split; [|exact XK]. apply Forall_forall. intros p I.
       apply filter_In in I as [I V]. apply in_map_iff in I as (couple & <- & _).
       apply mixture_exact, V. }
  destruct E as (X' & I & P). split; [exact X'|]. intros q Q NZ.
  assert (PQ : poly rows q) by (intros g J; apply Q; right; exact J).
  assert (V : forall r, In r (map fst rays) -> poly rows (column r)).
  { intros r J. apply in_map_iff in J as (p & <- & J). rewrite Forall_forall in X.
    apply (exact_poly k), X, J. }
  assert (W : forall r, In r (map fst rays) -> exists g, In g rows /\ 0 < dot g (column r)).
  { intros r J. apply in_map_iff in J as (p & <- & J). rewrite Forall_forall in X.
    apply (exact_loose k); [exact G | apply X, J]. }
  assert (S := described_spanned k rows (map fst rays) D (proj1 G) V W (loose rows q) q q
    (Nat.le_refl _) PQ (fun g J E => E)).
  set (T := of_rays rows (map fst rays) q) in *.
  assert (LOC : forall r, T r -> exists b, In (times f r, (r, b)) sided /\ b = tight_in rows r /\
    tighter rows (column r) q).
  { intros r [J TR]. apply in_map_iff in J as ([r' b] & <- & J). exists b.
    split; [apply in_map_iff; exists (r', b); auto|]. split; [|exact TR].
    rewrite Forall_forall in X. apply (X _ J). }
  assert (FQ := Q f (or_introl eq_refl)).
  (* a ray of the mixture that is within, and tight in f if q is *)
  assert (STAY : forall r, T r -> 0 <= dot f (column r) -> (dot f q = 0 -> dot f (column r) = 0) ->
    exists r', In r' (map fst rays') /\ tighter (f :: rows) (column r') q).
  { intros r TR N0 TF. destruct (LOC r TR) as (b & J & _ & TI). exists r. split.
    - assert (N1 : (0 <= times f r)%Z) by (apply le_IZR; rewrite times_dot; exact N0).
      apply (in_kept _ _ _ _ J) in N1.
      apply in_map_iff. eexists. split; [|apply I, in_or_app; right; exact N1]. reflexivity.
    - intros g [<- | K] E0; [apply TF, E0 | apply TI; assumption]. }
  destruct (classic (exists r, T r /\ dot f (column r) = 0)) as [(r & TR & Z0) | NZ0].
  { apply (STAY r TR); [lra | auto]. }
  destruct (classic (exists r, T r /\ 0 < dot f (column r))) as [(r & TR & POS) | NP].
  2: { exfalso. assert (H : forall r, T r -> 0 < dot (map Z.opp f) (column r)).
       { intros r TR. rewrite dot_opp. destruct (Rtotal_order (dot f (column r)) 0) as [L | [L | L]].
         - lra.
         - exfalso. apply NZ0. exists r. auto.
         - exfalso. apply NP. exists r. auto. }
       destruct (spanned_positive k T (map Z.opp f) q) as [Z1 | B]; auto.
       - rewrite map_length. exact LF.
       - rewrite dot_opp in B. lra. }
  destruct (Req_dec (dot f q) 0) as [FZ | FN]; [|apply (STAY r TR); [lra | intro; contradiction]].
  destruct (classic (exists r, T r /\ dot f (column r) < 0)) as [(r2 & TR2 & NEG) | NN].
  2: { exfalso. assert (H : forall r, T r -> 0 < dot f (column r)).
       { intros r1 TR1. destruct (Rtotal_order (dot f (column r1)) 0) as [L | [L | L]].
         - exfalso. apply NN. exists r1. auto.
         - exfalso. apply NZ0. exists r1. auto.
         - exact L. }
       destruct (spanned_positive k T f q LF H S) as [Z1 | B]; [contradiction | lra]. }
  destruct (LOC r TR) as (b & J & EB & TI). destruct (LOC r2 TR2) as (b2 & J2 & EB2 & TI2).
  destruct (P (times f r2) r2 b2 (times f r) r b) as (p & IP & C).
  { unfold pairs_of. apply in_prod; apply filter_In; (split; [assumption|]); cbn [fst]; apply Z.ltb_lt, lt_IZR;
      rewrite times_dot; assumption. }
  exists (fst p). split; [apply in_map, IP|].
  rewrite Forall_forall in X'. destruct (X' p IP) as [_ BP]. rewrite BP in C.
  apply tighter_of_bits with (1 := C). intros i g IG E0. destruct i.
  - rewrite N.succ_double_spec. apply N.testbit_odd_0.
  - rewrite Nat2N.inj_succ, N.succ_double_spec, N.testbit_odd_succ by lia. cbn [nth_error] in IG.
    rewrite N.land_spec, EB, EB2. pose proof (nth_error_In _ _ IG) as IN.
    apply andb_true_iff. split; apply (tight_in_spec rows _ i g IG), eq_IZR; rewrite times_dot;
      [apply (TI2 g IN E0) | apply (TI g IN E0)].
Qed.

Lemma cut_all_sound : forall k more rows rays rows' rays', grounded k rows ->
  Forall (exact k rows) rays -> described k rows (map fst rays) ->
  cut_all k more rows rays = Some (rows', rays') ->
  grounded k rows' /\ Forall (exact k rows') rays' /\ described k rows' (map fst rays') /\
  forall q, poly rows q -> poly more q -> poly rows' q.
Proof.
  intros k. induction more as [|f more]; intros rows rays rows' rays' G X D E; cbn [cut_all] in E.
  - injection E as <- <-. repeat split; try assumption; try apply G. intros q P _. exact P.
  - destruct (Nat.eqb_spec (length f) k) as [L | _]; [|discriminate].
    destruct (cut_by k rows f rays) as [rays1|] eqn:C; [|discriminate].
    destruct (cut_by_sound k rows f rays rays1 G L X D C) as [X1 D1].
    assert (G1 : grounded k (f :: rows)).
    { destruct G as [GL GU]. split; [intros g [<- | I]; auto | intros g I; right; apply GU, I]. }
    destruct (IHmore _ _ _ _ G1 X1 D1 E) as (G2 & X2 & D2 & P). repeat split; try assumption; try apply G2.
    intros q Q M. apply P; [|intros g I; apply M; right; exact I].
    intros g [<- | I]; [apply M; left; reflexivity | apply Q, I].
Qed.

Lemma unit_rows_length : forall k f, In f (unit_rows k) -> length f = k.
Proof.
  intros k f I. unfold unit_rows in I. apply in_map_iff in I as (x & <- & _).
  rewrite map_length. apply seq_length.
Qed.

Lemma unit_column : forall k x z, (z < k)%nat ->
  column (map (fun z => if Nat.eqb x z then 1%Z else 0%Z) (seq 0 k)) z = if Nat.eqb x z then 1 else 0.
Proof.
  intros k x z H. unfold column. set (f := fun z => if Nat.eqb x z then 1%Z else 0%Z).
  rewrite (nth_indep _ 0%Z (f O)) by (rewrite map_length, seq_length; exact H).
  rewrite map_nth, seq_nth by exact H. unfold f. simpl. destruct (Nat.eqb x z); reflexivity.
Qed.

Lemma orthant_exact : forall k, Forall (exact k (unit_rows k))
  (map (fun r => (r, tight_in (unit_rows k) r)) (unit_rows k)).
Proof.
  intros k. apply Forall_forall. intros p I. apply in_map_iff in I as (r & <- & I).
  split; [|reflexivity]. cbn [fst]. pose proof (unit_rows_length k r I) as L.
  unfold unit_rows in I. apply in_map_iff in I as (x & <- & X). apply in_seq in X.
  unfold is_ray. rewrite L, Nat.eqb_refl. cbn [andb]. apply andb_true_iff. split.
  - apply existsb_exists. exists 1%Z. split; [|reflexivity]. apply in_map_iff. exists x.
    rewrite Nat.eqb_refl. split; [reflexivity | apply in_seq; lia].
  - apply forallb_forall. intros f I. apply in_map_iff in I as (z & <- & Z0). apply in_seq in Z0.
    apply Z.leb_le, le_IZR. rewrite times_dot, unit_row_dot, unit_column by lia.
    destruct (Nat.eqb x z); lra.
Qed.

Lemma orthant_described : forall k, described k (unit_rows k)
  (map fst (map (fun r => (r, tight_in (unit_rows k) r)) (unit_rows k))).
Proof.
  intros k q P NZ. assert (E : exists x, (x < k)%nat /\ q x <> 0).
  { apply NNPP. intro N. apply NZ. intros x X. apply NNPP. intro H. apply N. exists x. auto. }
  destruct E as (x & X & QX). eexists. split.
  - rewrite map_map. cbn [fst]. rewrite map_id. apply unit_rows_in, X.
  - intros f I E. apply in_map_iff in I as (z & <- & Z0). apply in_seq in Z0.
    rewrite unit_row_dot in * by lia. rewrite unit_column by lia.
    destruct (Nat.eqb_spec x z) as [-> | _]; [contradiction | reflexivity].
Qed.

Theorem rays_of_sound : forall k more rays, rays_of k more = Some rays ->
  forall q, (forall x, (x < k)%nat -> 0 <= q x) -> poly more q ->
  spanned k (fun r => In r rays) q.
Proof.
  intros k more rays E q N M. unfold rays_of in E.
  destruct (cut_all _ _ _ _) as [[rows' rays']|] eqn:C; [|discriminate]. injection E as <-.
  assert (G : grounded k (unit_rows k)) by (split; [apply unit_rows_length | apply incl_refl]).
  destruct (cut_all_sound k more _ _ _ _ G (orthant_exact k) (orthant_described k) C)
    as (G' & X & D & P).
  assert (Q : poly rows' q).
  { apply P; [|exact M]. intros f I. apply in_map_iff in I as (x & <- & X0). apply in_seq in X0.
    rewrite unit_row_dot by lia. apply N. lia. }
  rewrite Forall_forall in X.
  apply spanned_weaker with (P := of_rays rows' (map fst rays') q); [intros r [I _]; exact I|].
  apply described_spanned with (n := loose rows' q); auto.
  - apply G'.
  - intros r I. apply in_map_iff in I as (p & <- & I). apply (exact_poly k), X, I.
  - intros r I. apply in_map_iff in I as (p & <- & I). apply (exact_loose k); [exact G' | apply X, I].
  - intros g I H. exact H.
Qed.

(* Every ray has k entries. *)
Lemma rays_of_length : forall k more rays r, rays_of k more = Some rays -> In r rays -> length r = k.
Proof.
  intros k more rays r E I. unfold rays_of in E.
  destruct (cut_all _ _ _ _) as [[rows' rays']|] eqn:C; [|discriminate]. injection E as <-.
  assert (G : grounded k (unit_rows k)) by (split; [apply unit_rows_length | apply incl_refl]).
  destruct (cut_all_sound k more _ _ _ _ G (orthant_exact k) (orthant_described k) C)
    as (_ & X & _). apply in_map_iff in I as (p & <- & I). rewrite Forall_forall in X.
  destruct (X p I) as [V _]. unfold is_ray in V. apply andb_true_iff in V as [V _].
  apply andb_true_iff in V as [V _]. apply Nat.eqb_eq, V.
Qed.

(* Rays that span a cone {q : f . q >= 0 for all rows f}. They are described by one property: for each
   q of the cone but 0, some ray is tight in all rows in which q is. Then every q is a mixture of
   rays: subtract as much of that ray as the cone allows, and one more row becomes tight. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool Classical.
Require Import Definitions Sums.
Import ListNotations.
Open Scope Z_scope.

(* f . r of two lists of integers *)
Fixpoint times (f r : list Z) : Z :=
  match f, r with
  | a :: f', b :: r' => a * b + times f' r'
  | _, _ => 0
  end.

(* A ray of the cone of some rows. *)
Definition is_ray (k : nat) (rows : list (list Z)) (r : list Z) : bool :=
  Nat.eqb (length r) k && existsb (Z.ltb 0) r && forallb (fun f => 0 <=? times f r) rows.


Definition unit_rows (k : nat) : list (list Z) :=
  map (fun x => map (fun z => if Nat.eqb x z then 1 else 0) (seq 0 k)) (seq 0 k).

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

Definition column (r : list Z) (x : nat) : R := IZR (nth x r 0%Z).

Definition poly (rows : list (list Z)) (q : nat -> R) : Prop := forall f, In f rows -> 0 <= dot f q.

Definition tighter (rows : list (list Z)) (p q : nat -> R) : Prop :=
  forall f, In f rows -> dot f q = 0 -> dot f p = 0.

Definition vanishes_on (k : nat) (q : nat -> R) : Prop := forall x, (x < k)%nat -> q x = 0.

(* Mixtures of rays with a property. *)
Inductive spanned (k : nat) (P : list Z -> Prop) : (nat -> R) -> Prop :=
  | spanned_zero : forall q, vanishes_on k q -> spanned k P q
  | spanned_more : forall q rest r t, P r -> 0 < t -> spanned k P rest ->
      (forall x, (x < k)%nat -> q x = rest x + t * column r x) -> spanned k P q.

Definition described (k : nat) (rows rays : list (list Z)) : Prop :=
  forall q, poly rows q -> ~ vanishes_on k q ->
  exists r, In r rays /\ tighter rows (column r) q.

Lemma spanned_weaker : forall k (P Q : list Z -> Prop) q, (forall r, P r -> Q r) ->
  spanned k P q -> spanned k Q q.
Proof.
  intros k P Q q H S. induction S; [constructor; assumption|].
  apply spanned_more with rest r t; auto.
Qed.

Lemma times_dot : forall f r, IZR (times f r) = dot f (column r).
Proof.
  induction f as [|a f]; intros r; [reflexivity|]. cbn [times dot]. destruct r as [|b r].
  - unfold column. cbn [nth]. rewrite Rmult_0_r, Rplus_0_l. clear.
    induction f; [reflexivity|]. cbn [dot]. rewrite <- IHf. lra.
  - rewrite plus_IZR, mult_IZR, IHf. reflexivity.
Qed.

Lemma dot_plus : forall f p q t, dot f (fun x => p x + t * q x) = dot f p + t * dot f q.
Proof.
  induction f as [|a f]; intros p q t; [simpl; lra|]. cbn [dot].
  rewrite (IHf (fun i => p (S i)) (fun i => q (S i)) t). ring.
Qed.

Lemma dot_zero : forall k f q, length f = k -> vanishes_on k q -> dot f q = 0.
Proof.
  intros k f q L Z0. rewrite dot_sum, L. rewrite <- (sum_zero k). apply sum_ext. intros x X.
  rewrite Z0 by exact X. ring.
Qed.

Lemma dot_same : forall k f p q, length f = k -> (forall x, (x < k)%nat -> p x = q x) -> dot f p = dot f q.
Proof. intros k f p q L E. apply dot_ext. intros. apply E. lia. Qed.

(* The first row at which the ratio f . q / f . r is the least. *)
Lemma least_ratio : forall (rows : list (list Z)) (q p : nat -> R),
  (exists f, In f rows /\ 0 < dot f p) ->
  exists f, In f rows /\ 0 < dot f p /\
    forall g, In g rows -> 0 < dot g p -> dot f q * dot g p <= dot g q * dot f p.
Proof.
  induction rows as [|f rows]; intros q p [g [I G]]; [destruct I|].
  destruct (classic (exists f, In f rows /\ 0 < dot f p)) as [E | N].
  - destruct (IHrows q p E) as (h & IH & HP & HL).
    destruct (Rlt_le_dec 0 (dot f p)) as [FP | FN].
    + destruct (Rle_lt_dec (dot f q * dot h p) (dot h q * dot f p)) as [L | L].
      * exists f. split; [left; reflexivity|]. split; [exact FP|].
        intros e [<- | IE] EP; [lra|]. specialize (HL e IE EP).
        apply Rmult_le_reg_l with (dot h p); [exact HP|].
        apply Rmult_le_compat_r with (r := dot e p) in L; [|lra].
        apply Rmult_le_compat_r with (r := dot f p) in HL; [|lra]. lra.
      * exists h. split; [right; exact IH|]. split; [exact HP|].
        intros e [<- | IE] EP; [lra | apply HL; assumption].
    + exists h. split; [right; exact IH|]. split; [exact HP|].
      intros e [<- | IE] EP; [lra | apply HL; assumption].
  - exists f. assert (FP : 0 < dot f p).
    { destruct I as [<- | I]; [exact G|]. exfalso. apply N. exists g. auto. }
    split; [left; reflexivity|]. split; [exact FP|].
    intros e [<- | IE] EP; [lra|]. exfalso. apply N. exists e. auto.
Qed.

Fixpoint loose (rows : list (list Z)) (q : nat -> R) : nat :=
  match rows with
  | [] => O
  | f :: rest => ((if Req_EM_T (dot f q) 0 then 0 else 1) + loose rest q)%nat
  end.

Lemma loose_le : forall rows p q, tighter rows p q -> (loose rows p <= loose rows q)%nat.
Proof.
  induction rows as [|f rows]; intros p q T; [simpl; lia|]. cbn [loose].
  assert (T' : tighter rows p q) by (intros g I; apply T; right; exact I).
  specialize (IHrows p q T'). destruct (Req_EM_T (dot f q) 0) as [E | N].
  - rewrite (T f (or_introl eq_refl) E). destruct (Req_EM_T 0 0); [lia | lra].
  - destruct (Req_EM_T (dot f p) 0); lia.
Qed.

Lemma loose_lt : forall rows p q f, tighter rows p q -> In f rows -> dot f p = 0 -> dot f q <> 0 ->
  (loose rows p < loose rows q)%nat.
Proof.
  induction rows as [|g rows]; intros p q f T I P Q; [destruct I|]. cbn [loose].
  assert (T' : tighter rows p q) by (intros h J; apply T; right; exact J).
  destruct I as [-> | I].
  - pose proof (loose_le rows p q T'). rewrite P. destruct (Req_EM_T 0 0); [|lra].
    destruct (Req_EM_T (dot f q) 0); [contradiction | lia].
  - specialize (IHrows p q f T' I P Q). destruct (Req_EM_T (dot g q) 0) as [E | N].
    + rewrite (T g (or_introl eq_refl) E). destruct (Req_EM_T 0 0); [lia | lra].
    + destruct (Req_EM_T (dot g p) 0); lia.
Qed.

Definition of_rays (rows rays : list (list Z)) (q : nat -> R) (r : list Z) : Prop :=
  In r rays /\ tighter rows (column r) q.

Lemma described_spanned : forall k rows rays, described k rows rays ->
  (forall f, In f rows -> length f = k) ->
  (forall r, In r rays -> poly rows (column r)) ->
  (forall r, In r rays -> exists f, In f rows /\ 0 < dot f (column r)) ->
  forall n p q, (loose rows q <= n)%nat -> poly rows q -> tighter rows q p ->
  spanned k (of_rays rows rays p) q.
Proof.
  intros k rows rays D L V W. induction n; intros p q LN PQ T;
    (destruct (classic (vanishes_on k q)) as [Z0 | NZ]; [constructor; exact Z0|]);
    destruct (D q PQ NZ) as (r & I & TR);
    destruct (least_ratio rows q (column r) (W r I)) as (f & IF & FP & FL);
    (assert (FQ : dot f q <> 0) by (intro E; specialize (TR f IF E); lra)).
  - exfalso. assert (G : (loose rows (fun _ => 0%R) < loose rows q)%nat); [|lia].
    apply loose_lt with f; auto.
    + intros g J _. apply dot_zero with k; [apply L, J | intros x X; reflexivity].
    + apply dot_zero with k; [apply L, IF | intros x X; reflexivity].
  - set (t := dot f q / dot f (column r)).
    assert (TP : 0 < t).
    { unfold t, Rdiv. pose proof (PQ f IF). apply Rmult_lt_0_compat; [lra|]. apply Rinv_0_lt_compat, FP. }
    set (rest := fun x => q x + - t * column r x).
    assert (TR' : tighter rows rest q).
    { intros g J E. unfold rest. rewrite dot_plus, E, (TR g J E). ring. }
    assert (PR : poly rows rest).
    { intros g J. unfold rest. rewrite dot_plus. specialize (FL g J). pose proof (V r I g J) as G.
      destruct (Req_EM_T (dot g (column r)) 0) as [E | N].
      - rewrite E. pose proof (PQ g J). lra.
      - assert (GP : 0 < dot g (column r)) by lra. specialize (FL GP).
        apply Rmult_le_reg_r with (dot f (column r)); [exact FP|].
        replace ((dot g q + - t * dot g (column r)) * dot f (column r)) with
          (dot g q * dot f (column r) - dot f q * dot g (column r)) by (unfold t; field; lra). lra. }
    assert (RF : dot f rest = 0) by (unfold rest; rewrite dot_plus; unfold t; field; lra).
    apply spanned_more with rest r t; [split; [exact I|] | exact TP | |].
    + intros g J E. apply (TR g J), (T g J E).
    + apply IHn; [|exact PR|].
      * pose proof (loose_lt rows rest q f TR' IF RF FQ). lia.
      * intros g J E. apply (TR' g J), (T g J E).
    + intros x X. unfold rest. ring.
Qed.

(* What a linear form is at a mixture. *)
Lemma spanned_nonneg : forall k (P : list Z -> Prop) f q, length f = k -> (forall r, P r -> 0 <= dot f (column r)) ->
  spanned k P q -> 0 <= dot f q.
Proof.
  intros k P f q L H S. induction S.
  - rewrite dot_zero with (k := k); auto. lra.
  - rewrite (dot_same k f q (fun x => rest x + t * column r x)) by auto. rewrite dot_plus.
    specialize (H r H0). nra.
Qed.

Lemma spanned_positive : forall k (P : list Z -> Prop) f q, length f = k -> (forall r, P r -> 0 < dot f (column r)) ->
  spanned k P q -> vanishes_on k q \/ 0 < dot f q.
Proof.
  intros k P f q L H S. destruct S; [left; assumption|]. right.
  rewrite (dot_same k f q (fun x => rest x + t * column r x)) by auto. rewrite dot_plus.
  assert (G : 0 <= dot f rest).
  { apply spanned_nonneg with (k := k) (P := P); auto. intros. left. auto. }
  specialize (H r H0). nra.
Qed.

Lemma dot_opp : forall f q, dot (map Z.opp f) q = - dot f q.
Proof.
  induction f; intros; simpl; [lra|]. rewrite opp_IZR, IHf. lra.
Qed.

Lemma unit_row_dot : forall k x q, (x < k)%nat ->
  dot (map (fun z => if Nat.eqb x z then 1%Z else 0%Z) (seq 0 k)) q = q x.
Proof.
  intros k x q X. rewrite dot_sum, map_length, seq_length.
  rewrite <- (Rmult_1_l (q x)), <- (sum_at k x 1 q X). apply sum_ext. intros i I.
  set (f := fun z => if Nat.eqb x z then 1%Z else 0%Z).
  rewrite (nth_indep _ 0%Z (f O)) by (rewrite map_length, seq_length; exact I).
  rewrite map_nth, seq_nth by exact I. unfold f. simpl. rewrite Nat.eqb_sym.
  destruct (Nat.eqb i x); reflexivity.
Qed.

Lemma unit_rows_in : forall k x, (x < k)%nat ->
  In (map (fun z => if Nat.eqb x z then 1%Z else 0%Z) (seq 0 k)) (unit_rows k).
Proof.
  intros k x X. unfold unit_rows.
  apply in_map with (f := fun x => map (fun z => if Nat.eqb x z then 1%Z else 0%Z) (seq 0 k)).
  apply in_seq. lia.
Qed.

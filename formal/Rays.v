(* Oracle rays: what holds on rays that span the cone holds on the cone, if it is linear, or if it is
   a convex gain of degree 1. Prices u become u - c n, with weights n >= 0 and c the most that a ray
   lacks, over n . r; then every ray is looked at again, so that neither n nor c must be trusted.

   The rays are found here, by double description, from rows of the cone that a certificate names. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive.
Require Import Definitions Exponential Sums Arrays Privacy Cone Spanned Describe.
Import ListNotations.
Open Scope Z_scope.

Definition COARSE : Z := 96.

(* The row of a multiplier as f . q >= 0, rounded to the safe side. *)
Definition facet_of (k : nat) (cone : list generator) (sources : array source) (m : multiplier)
    : option (list Z) :=
  let whole := {| place := place m; is_upper := is_upper m; row_x := row_x m;
                  row_other := row_other m; weight := UNIT |} in
  match multiplied k cone sources [whole] (repeat 0 k) with
  | Some row => Some (map (fun v => - Z.shiftr v COARSE) row)
  | None => None
  end.

Fixpoint facets_of (k : nat) (cone : list generator) (sources : array source) (ms : list multiplier)
    : option (list (list Z)) :=
  match ms with
  | [] => Some []
  | m :: rest =>
      match facet_of k cone sources m, facets_of k cone sources rest with
      | Some f, Some fs => Some (f :: fs)
      | _, _ => None
      end
  end.

Definition cone_rays (k : nat) (cone : list generator) (ms : list multiplier)
    : option (list (list Z)) :=
  match facets_of k cone (array_of (map source_of cone)) ms with
  | Some rows => rays_of k rows
  | None => None
  end.

(* u - c n, where a ray r lacks lack r. *)
Definition lowered_by (rays : list (list Z)) (lack : list Z -> Z) (n u : list Z) : list Z :=
  let bits := 64 + Z.log2 (fold_left Z.max n 1) in
  let levels := flat_map (fun r =>
    let weight := times n r in
    if 0 <? weight then [- (- Z.shiftl (lack r) bits / weight)] else []) rays in
  match levels with
  | [] => u
  | c :: rest =>
      let level := fold_left Z.max rest c in
      map (fun p => Z.shiftr (Z.shiftl (fst p) bits - level * snd p) bits) (combine u n)
  end.

Definition minus (a b : list Z) : list Z := add a (map Z.opp b).

Definition rays_price (k : nat) (rays : list (list Z)) (n cost prices : list Z) : option (list Z) :=
  let d := minus prices cost in
  let u := lowered_by rays (times d) n prices in
  if Nat.eqb (length u) k && forallb (fun r => times (minus u cost) r <=? 0) rays
  then Some u else None.

(* Sum_j (v_j . r)^2 *)
Definition power (vs : list (list Z)) (r : list Z) : Z :=
  fold_right (fun v t => let m := times v r in m * m + t) 0 vs.

Definition gain_lack (p : list Z) (vs : list (list Z)) (unit : positive) (u r : list Z) : Z :=
  times u r - (- (power vs r * UNIT) / Z.max 1 (Zpos unit * times p r)).

(* Sum_j (v_j . r)^2 / (p . r) + u . r <= 0 *)
Definition gain_safe (p : list Z) (vs : list (list Z)) (unit : positive) (u r : list Z) : bool :=
  let m := times p r in
  let a := power vs r in
  if 0 <? m then a * UNIT + times u r * (Zpos unit * m) <=? 0
  else (m =? 0) && (a =? 0) && (times u r <=? 0).

Definition rays_gain (k : nat) (rays : list (list Z)) (n p : list Z) (vs : list (list Z))
    (unit : positive) (prices : list Z) : option (list Z) :=
  let u := lowered_by rays (gain_lack p vs unit prices) n prices in
  if Nat.eqb (length u) k && forallb (gain_safe p vs unit u) rays then Some u else None.

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

Lemma coarse_dot : forall k l q, length l = k -> (forall x, (x < k)%nat -> 0 <= q x) ->
  two COARSE * dot (map (fun v => Z.shiftr v COARSE) l) q <= dot l q.
Proof.
  intros k l q L N. rewrite !dot_sum, map_length, L, <- sum_scale. apply sum_le. intros x X.
  rewrite (nth_indep _ 0%Z (Z.shiftr 0 COARSE)) by (rewrite map_length; lia).
  rewrite (map_nth (fun v => Z.shiftr v COARSE)).
  pose proof (shiftr_le (nth x l 0%Z) COARSE ltac:(vm_compute; discriminate)) as S.
  apply Rmult_le_compat_r with (r := q x) in S; [|apply N, X]. lra.
Qed.

Lemma zeros_dot : forall k q, dot (repeat 0%Z k) q = 0.
Proof.
  induction k; intros q; [reflexivity|]. cbn [repeat dot]. rewrite IHk. lra.
Qed.

Lemma facet_of_sound : forall k cone m f q, forallb (well_formed k) cone = true ->
  facet_of k cone (array_of (map source_of cone)) m = Some f -> in_cone k cone q -> 0 <= dot f q.
Proof.
  intros k cone m f q W E Q. unfold facet_of in E.
  destruct (multiplied _ _ _ _ _) as [row|] eqn:M; [|discriminate]. apply some_eq in E. subst f.
  apply multiplied_sound in M as [L M]; [|exact W | apply repeat_length].
  specialize (M q Q). rewrite zeros_dot in M.
  pose proof (coarse_dot k row q L (proj1 Q)) as S.
  assert (T : 0 < two COARSE) by (apply two_pos; vm_compute; discriminate).
  rewrite <- map_map with (f := fun v => Z.shiftr v COARSE) (g := Z.opp), dot_opp. nra.
Qed.

Lemma facets_of_sound : forall k cone q, forallb (well_formed k) cone = true -> in_cone k cone q ->
  forall ms fs, facets_of k cone (array_of (map source_of cone)) ms = Some fs -> poly fs q.
Proof.
  intros k cone q W Q. induction ms as [|m ms]; intros fs E; cbn [facets_of] in E.
  - injection E as <-. intros f [].
  - destruct (facet_of _ _ _ m) as [f|] eqn:F; [|discriminate].
    destruct (facets_of _ _ _ ms) as [rest|] eqn:R0; [|discriminate]. apply some_eq in E. subst fs.
    intros g [<- | I]; [apply (facet_of_sound k cone m); assumption | apply (IHms rest eq_refl g I)].
Qed.

Theorem cone_rays_sound : forall k cone ms rays q, forallb (well_formed k) cone = true ->
  cone_rays k cone ms = Some rays -> in_cone k cone q -> spanned k (fun r => In r rays) q.
Proof.
  intros k cone ms rays q W E Q. unfold cone_rays in E.
  destruct (facets_of _ _ _ ms) as [rows|] eqn:F; [|discriminate].
  apply rays_of_sound with (1 := E); [apply Q|]. apply (facets_of_sound k cone q W Q ms rows F).
Qed.

Lemma minus_dot : forall a b q, length a = length b -> dot (minus a b) q = dot a q - dot b q.
Proof. intros. unfold minus. rewrite add_dot by (rewrite map_length; assumption). rewrite dot_opp. lra. Qed.

Theorem rays_price_sound : forall k rays n cost prices u q, length cost = k ->
  rays_price k rays n cost prices = Some u -> spanned k (fun r => In r rays) q ->
  length u = k /\ dot u q <= dot cost q.
Proof.
  intros k rays n cost prices u q LC E S. unfold rays_price in E.
  destruct (_ && _) eqn:C in E; [|discriminate]. apply some_eq in E.
  set (u' := lowered_by _ _ _ _) in *. clearbody u'. subst u'. apply andb_true_iff in C as [L C]. apply Nat.eqb_eq in L.
  rewrite forallb_forall in C. split; [exact L|].
  assert (G : 0 <= dot (map Z.opp (minus u cost)) q).
  { apply spanned_nonneg with (k := k) (P := fun r => In r rays); [|intros r I|exact S].
    - unfold minus. rewrite map_length, add_length; rewrite ?map_length; lia.
    - specialize (C r I). apply Z.leb_le, IZR_le in C. rewrite times_dot in C. rewrite dot_opp. lra. }
  rewrite dot_opp, minus_dot in G by lia. lra.
Qed.

(* The gain of a column, over the unit: Sum_j (v_j . q)^2 / (p . q). *)
Fixpoint gain (p : list Z) (vs : list (list Z)) (q : nat -> R) : R :=
  match vs with
  | [] => 0
  | v :: rest => dot v q * dot v q / dot p q + gain p rest q
  end.

Lemma square_mixed : forall A B M N t, 0 <= M -> 0 <= N -> 0 < t ->
  (M = 0 -> A = 0) -> (N = 0 -> B = 0) ->
  (A + t * B) * (A + t * B) / (M + t * N) <= A * A / M + t * (B * B / N).
Proof.
  intros A B M N t PM PN T MA NB.
  destruct (Req_dec M 0) as [ZM | NM].
  { rewrite (MA ZM), ZM. destruct (Req_dec N 0) as [ZN | NN].
    - rewrite (NB ZN), ZN. unfold Rdiv. lra.
    - replace (0 * 0 / 0) with 0 by (unfold Rdiv; ring). rewrite !Rplus_0_l. right. field. split; lra. }
  destruct (Req_dec N 0) as [ZN | NN].
  { rewrite (NB ZN), ZN. replace (0 * 0 / 0) with 0 by (unfold Rdiv; ring).
    rewrite !Rmult_0_r, !Rplus_0_r. lra. }
  assert (P : 0 < M + t * N) by nra.
  assert (E : A * A / M + t * (B * B / N) - (A + t * B) * (A + t * B) / (M + t * N) =
    t * ((A * N - B * M) * (A * N - B * M)) * / (M * N * (M + t * N))) by (field; repeat split; lra).
  assert (0 <= t * ((A * N - B * M) * (A * N - B * M)) * / (M * N * (M + t * N))); [|lra].
  apply Rmult_le_pos; [apply Rmult_le_pos; [lra | apply Rle_0_sqr]|].
  left. apply Rinv_0_lt_compat. repeat apply Rmult_lt_0_compat; lra.
Qed.

Lemma gain_mixed : forall k p q rest r t, length p = k -> 0 < t ->
  (forall x, (x < k)%nat -> q x = rest x + t * column r x) ->
  0 <= dot p rest -> 0 <= dot p (column r) -> forall vs,
  (forall v, In v vs -> length v = k) ->
  (dot p rest = 0 -> forall v, In v vs -> dot v rest = 0) ->
  (dot p (column r) = 0 -> forall v, In v vs -> dot v (column r) = 0) ->
  gain p vs q <= gain p vs rest + t * gain p vs (column r).
Proof.
  intros k p q rest r t LP T E PR PC. induction vs as [|v vs]; intros L Z1 Z2; cbn [gain]; [lra|].
  assert (IH := IHvs (fun w I => L w (or_intror I)) (fun Z w I => Z1 Z w (or_intror I))
    (fun Z w I => Z2 Z w (or_intror I))).
  assert (D : forall f, length f = k -> dot f q = dot f rest + t * dot f (column r)).
  { intros f LF. rewrite (dot_same k f q (fun x => rest x + t * column r x)) by auto. apply dot_plus. }
  rewrite (D v) by (apply L; left; reflexivity). rewrite (D p LP).
  pose proof (square_mixed (dot v rest) (dot v (column r)) _ _ t PR PC T
    (fun Z => Z1 Z v (or_introl eq_refl)) (fun Z => Z2 Z v (or_introl eq_refl))) as S. lra.
Qed.

Lemma power_zero : forall vs r, power vs r = 0%Z -> forall v, In v vs -> times v r = 0%Z.
Proof.
  induction vs as [|w vs]; intros r E v I; [destruct I|]. cbn [power fold_right] in E.
  fold (power vs r) in E. assert (P : forall l, (0 <= power l r)%Z).
  { induction l; cbn [power fold_right]; [lia|]. fold (power l r). nia. }
  pose proof (P vs) as P'. destruct I as [<- | I]; [nia|]. apply IHvs; [nia | exact I].
Qed.

Lemma power_gain : forall p vs r, 0 < dot p (column r) ->
  IZR (power vs r) = gain p vs (column r) * dot p (column r).
Proof.
  intros p vs r P. induction vs as [|v vs]; cbn [power fold_right gain]; [lra|].
  fold (power vs r). rewrite plus_IZR, mult_IZR, IHvs, times_dot. field. lra.
Qed.

Lemma gain_zero : forall p vs q, (forall v, In v vs -> dot v q = 0) -> gain p vs q = 0.
Proof.
  intros p vs q. induction vs as [|v vs]; intros H; [reflexivity|]. cbn [gain].
  rewrite IHvs by (intros; apply H; right; assumption). rewrite H by (left; reflexivity).
  unfold Rdiv. ring.
Qed.

Theorem rays_gain_sound : forall k rays n p vs unit prices u q, length p = k ->
  (forall v, In v vs -> length v = k) ->
  rays_gain k rays n p vs unit prices = Some u -> spanned k (fun r => In r rays) q ->
  length u = k /\ IZR UNIT * (gain p vs q / IZR (Zpos unit)) + dot u q <= 0.
Proof.
  intros k rays n p vs unit prices u q LP LV E S. unfold rays_gain in E.
  destruct (_ && _) eqn:C in E; [|discriminate]. apply some_eq in E.
  set (u' := lowered_by _ _ _ _) in *. clearbody u'. subst u'. apply andb_true_iff in C as [L C]. apply Nat.eqb_eq in L.
  rewrite forallb_forall in C. split; [exact L|]. pose proof unit_pos as UP.
  assert (O : 0 < IZR (Zpos unit)) by (apply IZR_lt; reflexivity).
  assert (RAY : forall r, In r rays -> 0 <= dot p (column r) /\
    (dot p (column r) = 0 -> forall v, In v vs -> dot v (column r) = 0) /\
    IZR UNIT * (gain p vs (column r) / IZR (Zpos unit)) + dot u (column r) <= 0).
  { intros r I. specialize (C r I). unfold gain_safe in C. destruct (0 <? times p r)%Z eqn:M.
    - apply Z.ltb_lt, IZR_lt in M. rewrite times_dot in M. split; [lra|]. split; [intro; lra|].
      apply Z.leb_le, IZR_le in C. rewrite plus_IZR, !mult_IZR, (power_gain p) in C by exact M.
      rewrite !times_dot in C. set (g := gain p vs (column r)) in *. set (m := dot p (column r)) in *.
      apply Rmult_le_reg_r with (IZR (Zpos unit) * m); [apply Rmult_lt_0_compat; assumption|].
      replace ((IZR UNIT * (g / IZR (Zpos unit)) + dot u (column r)) * (IZR (Zpos unit) * m)) with
        (g * m * IZR UNIT + dot u (column r) * (IZR (Zpos unit) * m)) by (field; lra). lra.
    - apply andb_true_iff in C as [C U]. apply andb_true_iff in C as [M0 A0].
      apply Z.eqb_eq in M0, A0. apply Z.leb_le, IZR_le in U. rewrite times_dot in U.
      assert (V0 : forall v, In v vs -> dot v (column r) = 0).
      { intros v J. rewrite <- times_dot. f_equal. apply (power_zero vs r A0 v J). }
      rewrite <- times_dot, M0. split; [lra|]. split; [auto|].
      rewrite gain_zero by exact V0. unfold Rdiv. lra. }
  clear C. assert (G : 0 <= dot p q /\ (dot p q = 0 -> forall v, In v vs -> dot v q = 0) /\
    IZR UNIT * (gain p vs q / IZR (Zpos unit)) + dot u q <= 0); [|apply G].
  induction S as [q Z0 | q rest r t I T S IH E].
  - assert (H : forall f, length f = k -> dot f q = 0) by (intros; apply dot_zero with k; assumption).
    rewrite (H p LP), (H u L). split; [lra|]. split; [intros _ v J; apply H, LV, J|].
    rewrite gain_zero by (intros v J; apply H, LV, J). unfold Rdiv. lra.
  - destruct IH as (M1 & Z1 & G1). destruct (RAY r I) as (M2 & Z2 & G2).
    assert (D : forall f, length f = k -> dot f q = dot f rest + t * dot f (column r)).
    { intros f LF. rewrite (dot_same k f q (fun x => rest x + t * column r x)) by auto. apply dot_plus. }
    pose proof (gain_mixed k p q rest r t LP T E M1 M2 vs LV Z1 Z2) as GM.
    rewrite (D p LP), (D u L). split; [nra|]. split.
    + intros Z v J. assert (A : dot p rest = 0 /\ dot p (column r) = 0) by (split; nra).
      destruct A as [A B]. rewrite (D v (LV v J)), (Z1 A v J), (Z2 B v J). ring.
    + set (g := gain p vs q) in *. set (g1 := gain p vs rest) in *. set (g2 := gain p vs (column r)) in *.
      assert (H : IZR UNIT * (g / IZR (Zpos unit)) <=
        IZR UNIT * (g1 / IZR (Zpos unit)) + t * (IZR UNIT * (g2 / IZR (Zpos unit)))).
      { replace (IZR UNIT * (g1 / IZR (Zpos unit)) + t * (IZR UNIT * (g2 / IZR (Zpos unit)))) with
          (IZR UNIT * ((g1 + t * g2) / IZR (Zpos unit))) by (field; lra).
        apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r; [|exact GM].
        left. apply Rinv_0_lt_compat, O. }
      assert (t * (IZR UNIT * (g2 / IZR (Zpos unit)) + dot u (column r)) <= 0) by nra. lra.
Qed.

Lemma inner_dot : forall k v unit q, length v = k -> inner_of k v unit q = dot v q / IZR (Zpos unit).
Proof.
  intros k v unit q L. unfold inner_of. rewrite dot_sum, L. unfold Rdiv. rewrite Rmult_comm, <- sum_scale.
  apply sum_ext. intros x X. ring.
Qed.

Lemma squares_gain : forall k p vs unit q, length p = k -> (forall v, In v vs -> length v = k) ->
  sum_of_squares k vs unit q / inner_of k p unit q = gain p vs q / IZR (Zpos unit).
Proof.
  intros k p vs unit q LP LV. assert (O : 0 < IZR (Zpos unit)) by (apply IZR_lt; reflexivity).
  rewrite (inner_dot k p) by exact LP. induction vs as [|v vs]; cbn [sum_of_squares gain].
  - unfold Rdiv. ring.
  - unfold Rdiv at 1. rewrite Rmult_plus_distr_r.
    change (sum_of_squares k vs unit q * / (dot p q / IZR (Zpos unit))) with
      (sum_of_squares k vs unit q / (dot p q / IZR (Zpos unit))).
    rewrite IHvs by (intros; apply LV; right; assumption).
    rewrite (inner_dot k v) by (apply LV; left; reflexivity).
    destruct (Req_dec (dot p q) 0) as [-> | N]; [|field; split; lra].
    unfold Rdiv. rewrite !Rmult_0_l, !Rinv_0. ring.
Qed.

(* Decoders: a gain (v . q)^2 / (p . q) of one vector. For every s,
   - (v . q)^2 / (p . q) <= s^2 p . q - 2 s v . q, with equality at s = v . q / p . q, which lies
   between the least and the largest v_x / p_x. A node for each of some s_0 < ... < s_n; between two
   of them the cost is its chord less t (1 - t) d^2 p, and so are safe prices, entry by entry. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool Psatz.
Require Import Definitions Exponential Sums Arrays Privacy Cone.
Import ListNotations.
Open Scope Z_scope.

(* s^2 p - 2 s v, over UNIT, rounded down *)
Definition square_node (p v : list Z) (unit : positive) (s : fraction) : list Z :=
  let a := num s in
  let b := Zpos (den s) in
  map (fun x => Z.shiftl (a * a * fst x - 2 * a * b * snd x) UNIT_BITS / (b * b * Zpos unit))
    (combine p v).

(* (t - s)^2 p, over UNIT, rounded up *)
Definition curvature (p : list Z) (unit : positive) (s t : fraction) : list Z :=
  let a := num t * Zpos (den s) - num s * Zpos (den t) in
  let b := Zpos (den s * den t) in
  map (fun m => - (Z.shiftl (- (a * a * m)) UNIT_BITS / (b * b * Zpos unit))) p.

(* The least of (1 - t) a + t b - c t (1 - t), 0 <= t <= 1, rounded down. *)
Definition least_arc (a b c : Z) : Z :=
  if c <=? Z.abs (b - a) then Z.min a b
  else ((2 * (a + b) - c) * c - (b - a) * (b - a)) / (4 * c).

Definition arcs (c a b : list Z) : list Z :=
  map (fun x => least_arc (fst (snd x)) (snd (snd x)) (fst x)) (combine c (combine a b)).

Fixpoint intervals (p : list Z) (unit : positive) (s : list fraction) (found : list (list Z))
    : list (list Z) :=
  match s, found with
  | s0 :: ((s1 :: _) as rest), a :: ((b :: _) as more) =>
      arcs (curvature p unit s0 s1) a b :: intervals p unit rest more
  | _, _ => []
  end.

Definition at_most_all (s : fraction) (p v : list Z) : bool :=
  forallb (fun x => num s * fst x <=? snd x * Zpos (den s)) (combine p v).

Definition at_least_all (s : fraction) (p v : list Z) : bool :=
  forallb (fun x => snd x * Zpos (den s) <=? num s * fst x) (combine p v).

Fixpoint rising (s : list fraction) : bool :=
  match s with
  | a :: ((b :: _) as rest) =>
      (num a * Zpos (den b) <? num b * Zpos (den a)) && rising rest
  | _ => true
  end.

(* The nodes reach from the least to the largest v_x / p_x. *)
Definition reach (s : list fraction) (p v : list Z) : bool :=
  match s with
  | first :: _ :: _ => at_most_all first p v && at_least_all (last s first) p v && rising s
  | _ => false
  end.

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

Lemma least_arc_sound : forall a b c t, (0 <= c)%Z -> 0 <= t <= 1 ->
  IZR (least_arc a b c) <= (1 - t) * IZR a + t * IZR b - t * (1 - t) * IZR c.
Proof.
  intros a b c t C T. unfold least_arc. destruct (c <=? Z.abs (b - a))%Z eqn:E.
  - apply Z.leb_le in E. apply IZR_le in C.
    destruct (Z.min_spec a b) as [[L ->] | [L ->]].
    + assert (D : (c <= b - a)%Z) by lia. apply IZR_le in D. rewrite minus_IZR in D.
      assert (t * IZR c <= t * (IZR b - IZR a)) by (apply Rmult_le_compat_l; lra).
      assert (0 <= t * t * IZR c) by (apply Rmult_le_pos; [nra | lra]). nra.
    + assert (D : (c <= a - b)%Z) by lia. apply IZR_le in D. rewrite minus_IZR in D.
      assert ((1 - t) * IZR c <= (1 - t) * (IZR a - IZR b)) by (apply Rmult_le_compat_l; lra).
      assert (0 <= (1 - t) * (1 - t) * IZR c) by (apply Rmult_le_pos; [nra | lra]). nra.
  - apply Z.leb_gt in E. assert (CP : (0 < c)%Z) by lia.
    apply Rle_trans with (1 := div_le _ (4 * c) ltac:(lia)).
    apply IZR_lt in CP. rewrite minus_IZR, !mult_IZR, !minus_IZR, mult_IZR, plus_IZR.
    set (x := IZR a) in *. set (y := IZR b) in *. set (z := IZR c) in *.
    apply Rmult_le_reg_r with (4 * z); [lra|].
    replace (((2 * (x + y) - z) * z - (y - x) * (y - x)) / (4 * z) * (4 * z))
      with ((2 * (x + y) - z) * z - (y - x) * (y - x)) by (field; lra).
    assert (0 <= (2 * t * z + (y - x - z)) * (2 * t * z + (y - x - z))) by apply Rle_0_sqr. nra.
Qed.

Lemma curvature_length : forall p unit s t, length (curvature p unit s t) = length p.
Proof. intros. unfold curvature. apply map_length. Qed.

Lemma square_node_length : forall k p v unit s, length p = k -> length v = k ->
  length (square_node p v unit s) = k.
Proof. intros. unfold square_node. cbv zeta. rewrite map_length, combine_length. lia. Qed.

Lemma curvature_nonneg : forall p unit s t x, forallb (Z.leb 0) p = true ->
  (0 <= nth x (curvature p unit s t) 0)%Z.
Proof.
  intros p unit s t x P. unfold curvature.
  destruct (Nat.lt_ge_cases x (length p)) as [L | L]; [|rewrite nth_overflow by (rewrite map_length; lia); lia].
  set (f := fun m : Z => _). rewrite (nth_indep _ 0%Z (f 0%Z)) by (rewrite map_length; lia).
  rewrite map_nth. unfold f. rewrite forallb_forall in P.
  assert (M : (0 <= nth x p 0)%Z) by (apply Z.leb_le, P, nth_In, L).
  set (a := (num t * Zpos (den s) - num s * Zpos (den t))%Z).
  assert (N : (Z.shiftl (- (a * a * nth x p 0)) UNIT_BITS
    / (Z.pos (den s * den t) * Z.pos (den s * den t) * Z.pos unit) <= 0)%Z); [|lia].
  rewrite Z.shiftl_mul_pow2 by (vm_compute; discriminate).
  assert (0 < 2 ^ UNIT_BITS)%Z by (vm_compute; reflexivity).
  apply Z.div_le_upper_bound; [reflexivity|]. rewrite Z.mul_0_r.
  assert (0 <= a * a * nth x p 0)%Z by (apply Z.mul_nonneg_nonneg; [apply Z.square_nonneg | exact M]).
  set (w := (a * a * nth x p 0)%Z) in *. rewrite Z.mul_opp_l.
  assert (0 <= w * 2 ^ UNIT_BITS)%Z by (apply Z.mul_nonneg_nonneg; lia). lia.
Qed.

Lemma curvature_le : forall k p unit s t q, length p = k -> (forall x, (x < k)%nat -> 0 <= q x) ->
  IZR UNIT * ((real t - real s) * (real t - real s) * inner_of k p unit q) <=
  dot (curvature p unit s t) q.
Proof.
  intros k p unit s t q L N. unfold inner_of.
  rewrite <- sum_scale, <- sum_scale. rewrite dot_sum, curvature_length, L.
  apply sum_le. intros x X. unfold curvature. cbv zeta. set (f := fun m : Z => _).
  rewrite (nth_indep (map f p) 0%Z (f 0%Z)) by (rewrite map_length; lia). rewrite map_nth. unfold f.
  set (a := (num t * Zpos (den s) - num s * Zpos (den t))%Z). set (b := Zpos (den s * den t)).
  assert (BP : (0 < b * b * Zpos unit)%Z) by reflexivity.
  pose proof (div_le (Z.shiftl (- (a * a * nth x p 0%Z)) UNIT_BITS) _ BP) as D.
  rewrite shiftl_two in D by (vm_compute; discriminate). rewrite <- unit_two in D.
  apply Rmult_le_compat_r with (r := q x) in D; [|apply N, X]. rewrite (opp_IZR (_ / _)).
  assert (E : (real t - real s) = IZR a / IZR b).
  { unfold real, a, b. rewrite minus_IZR, !mult_IZR, Pos2Z.inj_mul, mult_IZR. field.
    split; apply not_0_IZR; discriminate. }
  rewrite E. rewrite opp_IZR, !mult_IZR in D.
  assert (B0 : IZR b <> 0) by (apply not_0_IZR; discriminate).
  assert (U0 : IZR (Zpos unit) <> 0) by (apply not_0_IZR; discriminate).
  replace (IZR UNIT * (IZR a / IZR b * (IZR a / IZR b) * (IZR (nth x p 0%Z) / IZR (Zpos unit) * q x)))
    with (- (- (IZR a * IZR a * IZR (nth x p 0%Z)) * IZR UNIT / (IZR b * IZR b * IZR (Zpos unit)) * q x)).
  - lra.
  - field. split; assumption.
Qed.

Lemma square_node_le : forall k p v unit s q, length p = k -> length v = k ->
  (forall x, (x < k)%nat -> 0 <= q x) ->
  dot (square_node p v unit s) q <=
  IZR UNIT * (real s * real s * inner_of k p unit q - 2 * real s * inner_of k v unit q).
Proof.
  intros k p v unit s q LP LV N. unfold inner_of.
  replace (real s * real s * sum k (fun x => IZR (nth x p 0%Z) / IZR (Zpos unit) * q x)
    - 2 * real s * sum k (fun x => IZR (nth x v 0%Z) / IZR (Zpos unit) * q x))
    with (real s * real s * sum k (fun x => IZR (nth x p 0%Z) / IZR (Zpos unit) * q x)
    + (- 2 * real s) * sum k (fun x => IZR (nth x v 0%Z) / IZR (Zpos unit) * q x)) by ring.
  rewrite <- !sum_scale, <- sum_plus, <- sum_scale. rewrite dot_sum, (square_node_length k) by assumption.
  apply sum_le. intros x X. unfold square_node. cbv zeta. set (f := fun y : Z * Z => _).
  rewrite (nth_indep (map f (combine p v)) 0%Z (f (0, 0)%Z)) by (rewrite map_length, combine_length; lia).
  rewrite map_nth, combine_nth by lia. unfold f. cbn [fst snd].
  assert (BP : (0 < Zpos (den s) * Zpos (den s) * Zpos unit)%Z) by reflexivity.
  pose proof (div_le (Z.shiftl (num s * num s * nth x p 0 - 2 * num s * Zpos (den s) * nth x v 0)%Z
    UNIT_BITS) _ BP) as D.
  rewrite shiftl_two in D by (vm_compute; discriminate). rewrite <- unit_two in D.
  apply Rmult_le_compat_r with (r := q x) in D; [|apply N, X]. apply Rle_trans with (1 := D).
  right. rewrite minus_IZR, !mult_IZR. unfold real. field.
  split; apply not_0_IZR; discriminate.
Qed.

Lemma arcs_length : forall k c a b, length c = k -> length a = k -> length b = k ->
  length (arcs c a b) = k.
Proof. intros. unfold arcs. rewrite map_length, !combine_length. lia. Qed.

Lemma arcs_dot : forall k c a b q t, length c = k -> length a = k -> length b = k ->
  (forall x, (x < k)%nat -> 0 <= q x) -> (forall x, (0 <= nth x c 0)%Z) -> 0 <= t <= 1 ->
  dot (arcs c a b) q <= (1 - t) * dot a q + t * dot b q - t * (1 - t) * dot c q.
Proof.
  intros k c a b q t LC LA LB N C T. rewrite !dot_sum, (arcs_length k), LA, LB, LC by assumption.
  replace ((1 - t) * sum k (fun i => IZR (nth i a 0%Z) * q i) + t * sum k (fun i => IZR (nth i b 0%Z) * q i)
    - t * (1 - t) * sum k (fun i => IZR (nth i c 0%Z) * q i))
    with ((1 - t) * sum k (fun i => IZR (nth i a 0%Z) * q i) + t * sum k (fun i => IZR (nth i b 0%Z) * q i)
    + (- (t * (1 - t))) * sum k (fun i => IZR (nth i c 0%Z) * q i)) by ring.
  rewrite <- !sum_scale, <- !sum_plus. apply sum_le. intros x X.
  unfold arcs. set (f := fun y : Z * (Z * Z) => _).
  rewrite (nth_indep (map f _) 0%Z (f (0, (0, 0))%Z)) by (rewrite map_length, !combine_length; lia).
  rewrite map_nth, !combine_nth by (rewrite ?combine_length; lia). unfold f. cbn [fst snd].
  pose proof (least_arc_sound (nth x a 0%Z) (nth x b 0%Z) (nth x c 0%Z) t (C x) T) as S.
  apply Rmult_le_compat_r with (r := q x) in S; [|apply N, X]. lra.
Qed.

Lemma rising_cons : forall a b rest, rising (a :: b :: rest) = true ->
  real a < real b /\ rising (b :: rest) = true.
Proof.
  intros a b rest H. change (rising (a :: b :: rest)) with
    ((num a * Zpos (den b) <? num b * Zpos (den a))%Z && rising (b :: rest)) in H.
  apply andb_true_iff in H as [H R0]. split; [|exact R0]. apply Z.ltb_lt, IZR_lt in H.
  rewrite !mult_IZR in H. unfold real.
  assert (A : 0 < IZR (Zpos (den a))) by (apply IZR_lt; reflexivity).
  assert (B : 0 < IZR (Zpos (den b))) by (apply IZR_lt; reflexivity).
  apply Rmult_lt_reg_r with (IZR (Zpos (den a)) * IZR (Zpos (den b))); [apply Rmult_lt_0_compat; lra|].
  replace (IZR (num a) / IZR (Zpos (den a)) * (IZR (Zpos (den a)) * IZR (Zpos (den b))))
    with (IZR (num a) * IZR (Zpos (den b))) by (field; lra).
  replace (IZR (num b) / IZR (Zpos (den b)) * (IZR (Zpos (den a)) * IZR (Zpos (den b))))
    with (IZR (num b) * IZR (Zpos (den a))) by (field; lra). exact H.
Qed.

Lemma last_any : forall (l : list fraction) a d d', last (a :: l) d = last (a :: l) d'.
Proof. induction l as [|b l]; intros; [reflexivity|]. exact (IHl b d d'). Qed.

Lemma pairs_cons : forall (A B : Type) (P : A -> B -> Prop) a l b m,
  Forall2 P (a :: l) (b :: m) -> P a b /\ Forall2 P l m.
Proof. intros A B P a l b m H. inversion H. auto. Qed.

(* At every s between the ends some interval has prices that are safe for the cost of s. *)
Lemma intervals_sound : forall k cone p v unit q, in_cone k cone q -> length p = k -> length v = k ->
  forallb (Z.leb 0) p = true -> forall nodes found,
  Forall2 (fun u cost => length u = k /\ dot u q <= dot cost q) found
    (map (square_node p v unit) nodes) ->
  rising nodes = true -> forall s first, hd first nodes = first -> (1 < length nodes)%nat ->
  real first <= s <= real (last nodes first) ->
  exists u, In u (intervals p unit nodes found) /\ length u = k /\
    dot u q <= IZR UNIT * (s * s * inner_of k p unit q - 2 * s * inner_of k v unit q).
Proof.
  intros k cone p v unit q [N _] LP LV P.
  induction nodes as [|s0 nodes]; intros found F R0 s first H L B; [simpl in L; lia|].
  destruct nodes as [|s1 nodes]; [simpl in L; lia|]. simpl in H. subst first.
  cbn [map] in F. destruct found as [|a found]; [inversion F|].
  apply pairs_cons in F as [[LA A] F']. assert (F2 := F').
  destruct found as [|b found'']; [inversion F'|]. apply pairs_cons in F2 as [[LB B'] _].
  apply rising_cons in R0 as [R0 R1].
  change (intervals p unit (s0 :: s1 :: nodes) (a :: b :: found'')) with
    (arcs (curvature p unit s0 s1) a b :: intervals p unit (s1 :: nodes) (b :: found'')).
  destruct (Rle_lt_dec s (real s1)) as [S | S].
  - exists (arcs (curvature p unit s0 s1) a b). split; [left; reflexivity|].
    assert (LC : length (curvature p unit s0 s1) = k) by (unfold curvature; rewrite map_length; exact LP).
    split; [apply arcs_length; assumption|].
    set (d := real s1 - real s0). set (t := (s - real s0) / d).
    assert (D : 0 < d) by (unfold d; lra).
    assert (ST : s = real s0 + t * d) by (unfold t; field; lra).
    assert (T : 0 <= t <= 1).
    { split; unfold t.
      - apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat, D].
      - apply Rmult_le_reg_r with d; [exact D|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
        unfold d. lra. }
    apply Rle_trans with (1 := arcs_dot k _ a b q t LC LA LB N
      (fun x => curvature_nonneg p unit s0 s1 x P) T).
    pose proof (square_node_le k p v unit s0 q LP LV N) as A0.
    pose proof (square_node_le k p v unit s1 q LP LV N) as A1.
    pose proof (curvature_le k p unit s0 s1 q LP N) as C0. fold d in C0.
    set (PQ := inner_of k p unit q) in *. set (VQ := inner_of k v unit q) in *. set (U := IZR UNIT) in *.
    assert (E : s * s * PQ - 2 * s * VQ = (1 - t) * (real s0 * real s0 * PQ - 2 * real s0 * VQ)
      + t * (real s1 * real s1 * PQ - 2 * real s1 * VQ) - t * (1 - t) * (d * d * PQ)).
    { replace (real s1) with (real s0 + d) by (unfold d; ring). rewrite ST. ring. }
    rewrite E.
    assert (X0 : (1 - t) * dot a q <= (1 - t) * (U * (real s0 * real s0 * PQ - 2 * real s0 * VQ)))
      by (apply Rmult_le_compat_l; lra).
    assert (X1 : t * dot b q <= t * (U * (real s1 * real s1 * PQ - 2 * real s1 * VQ)))
      by (apply Rmult_le_compat_l; lra).
    assert (X2 : t * (1 - t) * (U * (d * d * PQ)) <= t * (1 - t) * dot (curvature p unit s0 s1) q)
      by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | exact C0]).
    lra.
  - destruct nodes as [|s2 nodes]; [simpl in B; lra|].
    destruct (IHnodes (b :: found'') F' R1 s s1) as (u & I & LU & X); [reflexivity | simpl; lia | |].
    + split; [lra|]. destruct B as [_ B].
      change (last (s0 :: s1 :: s2 :: nodes) s0) with (last (s1 :: s2 :: nodes) s0) in B.
      rewrite (last_any _ s1 s0 s1) in B. exact B.
    + exists u. split; [right; exact I | split; assumption].
Qed.

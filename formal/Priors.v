(* Sets of priors: the most that p . q is for a prior p of the set, and whether a prior is in it.

   Box. For any t, p . q = t + Sum_x p_x (q_x - t) <= t + Sum_x max(low_x (q_x - t), high_x (q_x - t)).
   Ball. With M the largest q_x and any s >= 0, p . q - c . q = Sum_x (c_x - p_x) (M - q_x) is at most
   Sum_x (c_x - p_x)+ (s + (M - q_x - s)+) <= s radius + Sum_x c_x (M - q_x - s)+.
   The least of these over t, or M - s, among the entries of q is what they can be. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool.
Require Import Definitions Sums Spanned.
Import ListNotations.
Open Scope Z_scope.

Definition set_ok (k : nat) (s : prior_set) : bool :=
  match s with
  | Ball c r => Nat.eqb (length (entries c)) k && forallb (Z.leb 0) (entries c) &&
      (fold_right Z.add 0 (entries c) =? Zpos (over c)) && (0 <=? r)
  | Box low high unit => Nat.eqb (length low) k && Nat.eqb (length high) k && forallb (Z.leb 0) low
  end.

Definition set_unit (s : prior_set) : positive :=
  match s with Ball c _ => over c | Box _ _ unit => unit end.

Fixpoint box_at (t : Z) (low high q : list Z) : Z :=
  match low, high, q with
  | l :: low', h :: high', v :: q' => Z.max (l * (v - t)) (h * (v - t)) + box_at t low' high' q'
  | _, _, _ => 0
  end.

Fixpoint ball_at (t : Z) (c q : list Z) : Z :=
  match c, q with
  | l :: c', v :: q' => l * Z.max 0 (t - v) + ball_at t c' q'
  | _, _ => 0
  end.

Definition least_of (f : Z -> Z) (l : list Z) : Z :=
  match l with [] => 0 | v :: rest => fold_left (fun m t => Z.min m (f t)) rest (f v) end.

Definition largest_of (l : list Z) : Z :=
  match l with [] => 0 | v :: rest => fold_left Z.max rest v end.

(* The most that p . q is, times the unit. *)
Definition most_over (s : prior_set) (q : list Z) : Z :=
  match s with
  | Ball c r => let top := largest_of q in
      times (entries c) q + least_of (fun t => (top - t) * r + ball_at t (entries c) q) q
  | Box low high unit => least_of (fun t => t * Zpos unit + box_at t low high q) q
  end.

Fixpoint apart (n m : Z) (a b : list Z) : Z :=
  match a, b with
  | v :: a', w :: b' => Z.abs (v * m - w * n) + apart n m a' b'
  | _, _ => 0
  end.

Fixpoint within (n m : Z) (low p high : list Z) : bool :=
  match low, p, high with
  | l :: low', v :: p', h :: high' => (l * n <=? v * m) && (v * m <=? h * n) && within n m low' p' high'
  | _, _, _ => true
  end.

(* Is p a prior of the set? *)
Definition member (k : nat) (s : prior_set) (p : vector) : bool :=
  let n := Zpos (over p) in
  let m := Zpos (set_unit s) in
  Nat.eqb (length (entries p)) k && forallb (Z.leb 0) (entries p) &&
  (fold_right Z.add 0 (entries p) =? n) && set_ok k s &&
  match s with
  | Ball c r => apart n m (entries p) (entries c) <=? 2 * r * n
  | Box low high _ => within n m low (entries p) high
  end.

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

Lemma least_of_in : forall f l, l <> [] -> exists t, In t l /\ least_of f l = f t.
Proof.
  intros f l H. destruct l as [|v l]; [contradiction|]. clear H. unfold least_of.
  assert (G : forall rest a b, a = f b -> exists t, (t = b \/ In t rest) /\
    fold_left (fun m t => Z.min m (f t)) rest a = f t).
  { induction rest as [|w rest]; intros a b E; [exists b; auto|]. cbn [fold_left].
    destruct (Z.min_spec a (f w)) as [[_ M] | [_ M]].
    - destruct (IHrest (Z.min a (f w)) b) as (t & [I | I] & T); [congruence| |];
        exists t; split; auto; right; right; assumption.
    - destruct (IHrest (Z.min a (f w)) w) as (t & [I | I] & T); [exact M| |];
        exists t; split; auto; right; [left; auto | right; auto]. }
  destruct (G l (f v) v eq_refl) as (t & I & T). exists t. split; [|exact T].
  destruct I as [-> | I]; [left; reflexivity | right; exact I].
Qed.

Lemma largest_of_ge : forall l v, In v l -> (v <= largest_of l)%Z.
Proof.
  intros l v I. destruct l as [|w l]; [destruct I|]. unfold largest_of.
  assert (G : forall rest a u, u = a \/ In u rest -> (u <= fold_left Z.max rest a)%Z).
  { induction rest as [|b rest]; intros a u H; [destruct H as [-> | []]; simpl; lia|].
    cbn [fold_left]. destruct H as [-> | [-> | H]].
    - specialize (IHrest (Z.max a b) _ (or_introl eq_refl)). lia.
    - specialize (IHrest (Z.max a u) _ (or_introl eq_refl)). lia.
    - apply IHrest. right. exact H. }
  apply G. destruct I; auto.
Qed.

Lemma times_sum : forall k a b, length a = k -> length b = k ->
  IZR (times a b) = sum k (fun x => IZR (nth x a 0%Z) * IZR (nth x b 0%Z)).
Proof.
  intros k a b A B. rewrite times_dot, dot_sum, A. reflexivity.
Qed.

Lemma total_of : forall l, IZR (fold_right Z.add 0%Z l) = sum (length l) (fun x => IZR (nth x l 0%Z)).
Proof.
  induction l; [reflexivity|]. cbn [length fold_right]. rewrite plus_IZR, IHl, sum_first. reflexivity.
Qed.

Lemma box_at_sum : forall t unit low high q p k, 0 < unit ->
  length low = k -> length high = k -> length q = k ->
  (forall x, (x < k)%nat -> IZR (nth x low 0%Z) <= unit * p x <= IZR (nth x high 0%Z)) ->
  unit * sum k (fun x => p x * (IZR (nth x q 0%Z) - IZR t)) <= IZR (box_at t low high q).
Proof.
  intros t unit. induction low as [|l low]; intros high q p k U L H Q B;
    destruct high as [|h high]; destruct q as [|v q]; cbn [length] in *; subst k; try discriminate.
  - simpl. lra.
  - injection H as H. injection Q as Q. rewrite sum_first, Rmult_plus_distr_l. cbn [box_at]. rewrite plus_IZR.
    apply Rplus_le_compat.
    + destruct (B O ltac:(lia)) as [B1 B2]. cbn [nth] in *.
      rewrite <- minus_IZR. set (d := (v - t)%Z) in *.
      pose proof (Z.le_max_l (l * d) (h * d)) as M1. pose proof (Z.le_max_r (l * d) (h * d)) as M2.
      apply IZR_le in M1, M2. rewrite mult_IZR in M1, M2.
      destruct (Rle_lt_dec 0 (IZR d)) as [D | D]; nra.
    + cbn [nth]. apply (IHlow high q (fun x => p (S x)) (length low) U eq_refl H Q).
      intros x X. apply (B (S x)). lia.
Qed.

Lemma ball_at_sum : forall t c q k, length c = k -> length q = k ->
  IZR (ball_at t c q) = sum k (fun x => IZR (nth x c 0%Z) * Rmax 0 (IZR t - IZR (nth x q 0%Z))).
Proof.
  intros t. induction c as [|l c]; intros q k L Q; destruct q as [|v q]; cbn [length] in *; subst k;
    try discriminate; [reflexivity|].
  injection Q as Q. cbn [ball_at]. rewrite plus_IZR, mult_IZR, (IHc q _ eq_refl Q), sum_first.
  cbn [nth]. f_equal. f_equal. rewrite <- minus_IZR. unfold Rmax. destruct (Rle_dec 0 (IZR (t - v))) as [D | D].
  - rewrite Z.max_r; [reflexivity | apply le_IZR; exact D].
  - rewrite Z.max_l; [reflexivity|]. apply Rnot_le_lt, lt_IZR in D. lia.
Qed.

Theorem most_over_sound : forall k s p q, set_ok k s = true -> in_set k s p -> length q = k ->
  (0 < k)%nat ->
  IZR (Zpos (set_unit s)) * sum k (fun x => p x * IZR (nth x q 0%Z)) <= IZR (most_over s q).
Proof.
  intros k s p q OK (N & S & B) L K. assert (NE : q <> []) by (intro E; subst q; simpl in L; lia).
  destruct s as [c r | low high unit]; cbn [set_ok set_unit most_over] in *.
  - apply andb_true_iff in OK as [OK R0]. apply andb_true_iff in OK as [OK SC].
    apply andb_true_iff in OK as [LC PC]. apply Nat.eqb_eq in LC. apply Z.eqb_eq in SC.
    apply Z.leb_le, IZR_le in R0.
    assert (U : 0 < IZR (Zpos (over c))) by (apply IZR_lt; reflexivity).
    set (u := IZR (Zpos (over c))) in *. set (top := largest_of q) in *.
    destruct (least_of_in (fun t => ((top - t) * r + ball_at t (entries c) q)%Z) q NE) as (t & I & ->).
    rewrite !plus_IZR, mult_IZR, minus_IZR, (times_sum k), (ball_at_sum t _ _ k) by assumption.
    pose proof (largest_of_ge q t I) as TOP. fold top in TOP. apply IZR_le in TOP.
    set (M := IZR top) in *. set (T := IZR t) in *. set (v := fun x => IZR (nth x q 0%Z)).
    assert (VM : forall x, (x < k)%nat -> v x <= M).
    { intros x X. apply IZR_le, largest_of_ge, nth_In. lia. }
    set (e := fun x => entry c x).
    assert (E1 : sum k e = 1).
    { unfold e, entry. rewrite (sum_ext k _ (fun x => / u * IZR (nth x (entries c) 0%Z))) by
        (intros; unfold u; unfold Rdiv; ring).
      rewrite sum_scale, <- LC, <- total_of, SC. fold u. field. lra. }
    assert (EP : forall x, 0 <= e x).
    { intro x. unfold e, entry, Rdiv. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; exact U].
      apply IZR_le. destruct (Nat.lt_ge_cases x (length (entries c))) as [X | X].
      - rewrite forallb_forall in PC. apply Z.leb_le, PC, nth_In, X.
      - rewrite nth_overflow by exact X. lia. }
    assert (F : forall x, (x < k)%nat -> (e x - p x) * (M - v x) <=
      (M - T) * ((Rabs (p x - e x) + (e x - p x)) / 2) + e x * Rmax 0 (T - v x)).
    { intros x X. specialize (N x X). specialize (VM x X). specialize (EP x).
      pose proof (Rmax_l 0 (T - v x)). pose proof (Rmax_r 0 (T - v x)).
      assert (W : M - v x <= (M - T) + Rmax 0 (T - v x)) by lra.
      destruct (Rle_lt_dec 0 (p x - e x)) as [D | D].
      - rewrite Rabs_pos_eq by exact D. nra.
      - rewrite Rabs_left by exact D. replace ((- (p x - e x) + (e x - p x)) / 2) with (e x - p x) by field. nra. }
    apply sum_le in F. rewrite sum_plus, sum_scale in F.
    assert (H : sum k (fun x => (Rabs (p x - e x) + (e x - p x)) / 2) <= IZR r / u).
    { rewrite (sum_ext k _ (fun x => / 2 * (Rabs (p x - e x) + (e x + -1 * p x)))) by (intros; field).
      rewrite sum_scale, sum_plus, sum_plus, sum_scale, S, E1.
      change (sum k (fun x => Rabs (p x - e x))) with (sum k (fun x => Rabs (p x - entry c x))).
      lra. }
    assert (G : sum k (fun x => (e x - p x) * (M - v x)) = sum k (fun x => p x * v x) - sum k (fun x => e x * v x)).
    { rewrite (sum_ext k _ (fun x => M * e x + (-1 * M) * p x + (p x * v x + -1 * (e x * v x)))) by (intros; ring).
      rewrite !sum_plus, !sum_scale, S, E1. ring. }
    rewrite G in F.
    assert (CQ : sum k (fun x => IZR (nth x (entries c) 0%Z) * v x) = u * sum k (fun x => e x * v x)).
    { rewrite <- sum_scale. apply sum_ext. intros. unfold e, entry. fold u. field. lra. }
    assert (CB : sum k (fun x => IZR (nth x (entries c) 0%Z) * Rmax 0 (T - v x)) =
      u * sum k (fun x => e x * Rmax 0 (T - v x))).
    { rewrite <- sum_scale. apply sum_ext. intros. unfold e, entry. fold u. field. lra. }
    unfold v in CQ, CB, F. rewrite CQ, CB.
    assert (RU : IZR r = u * (IZR r / u)) by (field; lra). rewrite RU.
    assert (MT : (M - T) * sum k (fun x => (Rabs (p x - e x) + (e x - p x)) / 2) <= (M - T) * (IZR r / u))
      by (apply Rmult_le_compat_l; lra).
    apply Rmult_le_compat_l with (r := u) in F; [|lra]. apply Rmult_le_compat_l with (r := u) in MT; [|lra]. lra.
  - apply andb_true_iff in OK as [OK _]. apply andb_true_iff in OK as [LL LH]. apply Nat.eqb_eq in LL, LH.
    assert (U : 0 < IZR (Zpos unit)) by (apply IZR_lt; reflexivity).
    destruct (least_of_in (fun t => (t * Zpos unit + box_at t low high q)%Z) q NE) as (t & I & ->).
    rewrite plus_IZR, mult_IZR.
    pose proof (box_at_sum t (IZR (Zpos unit)) low high q p k U LL LH L) as X.
    rewrite (sum_ext k _ (fun x => p x * IZR (nth x q 0%Z) + - IZR t * p x)) in X by (intros; ring).
    rewrite sum_plus, sum_scale, S in X.
    assert (D : forall x, (x < k)%nat ->
      IZR (nth x low 0%Z) <= IZR (Zpos unit) * p x <= IZR (nth x high 0%Z)).
    { intros x X'. destruct (B x X') as [B1 B2].
      apply Rmult_le_compat_l with (r := IZR (Zpos unit)) in B1; [|lra].
      apply Rmult_le_compat_l with (r := IZR (Zpos unit)) in B2; [|lra].
      replace (IZR (Zpos unit) * (IZR (nth x low 0%Z) / IZR (Zpos unit))) with (IZR (nth x low 0%Z)) in B1 by (field; lra).
      replace (IZR (Zpos unit) * (IZR (nth x high 0%Z) / IZR (Zpos unit))) with (IZR (nth x high 0%Z)) in B2 by (field; lra).
      lra. }
    specialize (X D). lra.
Qed.

Lemma apart_sum : forall n m a b k, 0 < IZR n -> 0 < IZR m -> length a = k -> length b = k ->
  IZR (apart n m a b) = IZR n * IZR m *
    sum k (fun x => Rabs (IZR (nth x a 0%Z) / IZR n - IZR (nth x b 0%Z) / IZR m)).
Proof.
  intros n m. induction a as [|v a]; intros b k N M A B; destruct b as [|w b]; cbn [length] in *; subst k;
    try discriminate; [simpl; ring|].
  injection B as B. cbn [apart]. rewrite plus_IZR, (IHa b _ N M eq_refl B), sum_first. cbn [nth].
  rewrite Rmult_plus_distr_l. f_equal. rewrite abs_IZR, minus_IZR, !mult_IZR.
  rewrite <- (Rabs_pos_eq (IZR n * IZR m)) by (apply Rmult_le_pos; lra). rewrite <- Rabs_mult. f_equal.
  field. lra.
Qed.

Lemma within_nth : forall n m low p high k, length low = k -> length p = k -> length high = k ->
  within n m low p high = true -> forall x, (x < k)%nat ->
  (nth x low 0 * n <= nth x p 0 * m <= nth x high 0 * n)%Z.
Proof.
  intros n m. induction low as [|l low]; intros p high k L P H W x X;
    destruct p as [|v p]; destruct high as [|h high]; cbn [length] in *; subst k; try discriminate; [lia|].
  injection P as P. injection H as H. cbn [within] in W. apply andb_true_iff in W as [W W'].
  apply andb_true_iff in W as [W1 W2]. apply Z.leb_le in W1, W2.
  destruct x; cbn [nth]; [lia|]. apply (IHlow p high (length low)); auto. lia.
Qed.

Theorem member_sound : forall k s p, member k s p = true -> in_set k s (entry p).
Proof.
  intros k s p H. unfold member in H. apply andb_true_iff in H as [H B]. apply andb_true_iff in H as [H OK].
  apply andb_true_iff in H as [H T]. apply andb_true_iff in H as [L P]. apply Nat.eqb_eq in L. apply Z.eqb_eq in T.
  assert (NP : 0 < IZR (Zpos (over p))) by (apply IZR_lt; reflexivity).
  assert (MP : 0 < IZR (Zpos (set_unit s))) by (apply IZR_lt; reflexivity).
  split; [|split].
  - intros x X. unfold entry, Rdiv. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, NP].
    rewrite forallb_forall in P. apply IZR_le, Z.leb_le, P, nth_In. lia.
  - unfold entry. rewrite (sum_ext k _ (fun x => / IZR (Zpos (over p)) * IZR (nth x (entries p) 0%Z))) by
      (intros; unfold Rdiv; ring).
    rewrite sum_scale, <- L, <- total_of, T. field. lra.
  - destruct s as [c r | low high unit]; cbn [set_ok set_unit] in *.
    + apply andb_true_iff in OK as [OK _]. apply andb_true_iff in OK as [OK _].
      apply andb_true_iff in OK as [LC _]. apply Nat.eqb_eq in LC.
      apply Z.leb_le, IZR_le in B. rewrite (apart_sum _ _ _ _ k) in B by assumption.
      rewrite !mult_IZR in B. unfold entry. set (n := IZR (Zpos (over p))) in *.
      set (m := IZR (Zpos (over c))) in *. set (d := sum k _) in *.
      apply Rmult_le_reg_l with (n * m); [apply Rmult_lt_0_compat; assumption|].
      replace (n * m * (d / 2)) with (n * m * d / 2) by field.
      replace (n * m * (IZR r / m)) with (2 * IZR r * n / 2) by (field; lra). lra.
    + apply andb_true_iff in OK as [OK _]. apply andb_true_iff in OK as [LL LH]. apply Nat.eqb_eq in LL, LH.
      intros x X. destruct (within_nth _ _ _ _ _ k LL L LH B x X) as [B1 B2]. apply IZR_le in B1, B2.
      rewrite !mult_IZR in B1, B2. unfold entry. set (n := IZR (Zpos (over p))) in *.
      set (m := IZR (Zpos unit)) in *.
      split; apply Rmult_le_reg_r with (n * m); try (apply Rmult_lt_0_compat; assumption).
      * replace (IZR (nth x low 0%Z) / m * (n * m)) with (IZR (nth x low 0%Z) * n) by (field; lra).
        replace (IZR (nth x (entries p) 0%Z) / n * (n * m)) with (IZR (nth x (entries p) 0%Z) * m) by (field; lra).
        exact B1.
      * replace (IZR (nth x high 0%Z) / m * (n * m)) with (IZR (nth x high 0%Z) * n) by (field; lra).
        replace (IZR (nth x (entries p) 0%Z) / n * (n * m)) with (IZR (nth x (entries p) 0%Z) * m) by (field; lra).
        exact B2.
Qed.

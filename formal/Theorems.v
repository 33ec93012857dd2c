(* What is proved, in the words of Definitions.v: read these statements, and that file. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool.
Require Import Definitions Exponential Sums Arrays Privacy PrivacySound Cone Limits Relaxations Bound Value.
Import ListNotations.
Open Scope R_scope.

(* ---- generators by name ----------------------------------------------------------------------- *)

Definition ldp (k : nat) (epsilon : exponent) : generator :=
  Ratio (Constant epsilon (repeat 0%N k) (repeat true k)) (repeat 1%Z k).

Definition metric (k : nat) (values : list exponent) (table : list (list N)) : generator :=
  Ratio (Matrix values table) (repeat 1%Z k).

(* A private channel of these generators is private in the words of Definitions.v. *)

Lemma nth_ones : forall k x, (x < k)%nat -> nth x (repeat 1%Z k) 0%Z = 1%Z.
Proof. induction k; intros [|x] H; simpl; try lia. apply IHk. lia. Qed.

Lemma nth_true : forall k x, (x < k)%nat -> nth x (repeat true k) false = true.
Proof. induction k; intros [|x] H; simpl; try lia; try reflexivity. apply IHk. lia. Qed.

Theorem ldp_is_ldp : forall k n epsilon C, 0 <= size epsilon -> is_channel k n C ->
  is_private k n [ldp k epsilon] C -> is_ldp k n (size epsilon) C.
Proof.
  intros k n epsilon C E [N _] P x z y X Z0 Y.
  destruct (Nat.eq_dec x z) as [<- | NE].
  - pose proof (exp_increasing_le 0 _ E) as G. rewrite exp_0 in G. specialize (N x y X Y). nra.
  - specialize (P _ y (or_introl eq_refl) Y x z (size epsilon) X Z0). cbn beta in P.
    rewrite !nth_ones, !Rmult_1_l in P by assumption. apply P.
    unfold at_pair. rewrite nth_true by assumption. rewrite !nth_repeat. simpl.
    replace (Nat.eqb x z) with false by (symmetry; apply Nat.eqb_neq, NE). reflexivity.
Qed.

Theorem blocks_are_block_ldp : forall k n a block protected C, 0 <= size a -> is_channel k n C ->
  is_private k n [Ratio (Constant a block protected) (repeat 1%Z k)] C ->
  is_block_ldp k n (size a) (fun x z => nth x block 0%N = nth z block 0%N)
    (fun x => nth x protected false = true) C.
Proof.
  intros k n a block protected C E [N _] P x z y X Z0 Y S H.
  destruct (Nat.eq_dec x z) as [<- | NE].
  - pose proof (exp_increasing_le 0 _ E) as G. rewrite exp_0 in G. specialize (N x y X Y). nra.
  - specialize (P _ y (or_introl eq_refl) Y x z (size a) X Z0). cbn beta in P.
    rewrite !nth_ones, !Rmult_1_l in P by assumption. apply P.
    unfold at_pair. rewrite H, S, N.eqb_refl.
    replace (Nat.eqb x z) with false by (symmetry; apply Nat.eqb_neq, NE). reflexivity.
Qed.

(* distance x z is the exponent of the table, and bounds nothing where there is none. *)
Theorem metric_is_metric : forall k n values table distance C,
  (forall x z, (x < k)%nat -> (z < k)%nat -> x <> z ->
     at_pair (Matrix values table) x z = Some (distance x z)) ->
  (forall x, (x < k)%nat -> distance x x = 0) ->
  is_private k n [metric k values table] C -> is_metric_private k n distance C.
Proof.
  intros k n values table distance C A D P x z y X Z0 Y.
  destruct (Nat.eq_dec x z) as [<- | NE]; [rewrite D, exp_0 by exact X; lra|].
  specialize (P _ y (or_introl eq_refl) Y x z (distance x z) X Z0 (A x z X Z0 NE)). cbn beta in P.
  rewrite !nth_ones, !Rmult_1_l in P by assumption. exact P.
Qed.

Theorem lift_is_lip : forall k n p lower upper C, (forall x, (x < k)%nat -> 0 < entry p x) ->
  is_private k n [Lift (Some lower) (Some upper) p] C ->
  is_lip k n (entry p) (size lower) (size upper) C.
Proof.
  intros k n p lower upper C PP P x y X Y M.
  destruct (P _ y (or_introl eq_refl) Y x X) as [U L]. specialize (U _ eq_refl). specialize (L _ eq_refl).
  fold (mass k (entry p) C y) in U, L. specialize (PP x X).
  assert (E : posterior k (entry p) C x y / entry p x = C x y / mass k (entry p) C y).
  { unfold posterior. field. lra. }
  rewrite E. split; apply Rmult_le_reg_r with (mass k (entry p) C y); try exact M;
    unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra; lra.
Qed.

Theorem lift_is_pml : forall k n p upper C, (forall x, (x < k)%nat -> 0 < entry p x) ->
  is_private k n [Lift None (Some upper) p] C -> is_pml k n (entry p) (size upper) C.
Proof.
  intros k n p upper C PP P x y X Y M.
  destruct (P _ y (or_introl eq_refl) Y x X) as [U _]. specialize (U _ eq_refl).
  fold (mass k (entry p) C y) in U. specialize (PP x X).
  replace (posterior k (entry p) C x y / entry p x) with (C x y / mass k (entry p) C y)
    by (unfold posterior; field; lra).
  apply Rmult_le_reg_r with (mass k (entry p) C y); [exact M|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. exact U.
Qed.

(* ---- the checker ------------------------------------------------------------------------------ *)

(* A table that passes is a channel, and private. *)
Theorem private : forall k cone columns whole, check_private k cone columns whole = true ->
  is_channel k (length columns) (table columns whole) /\
  is_private k (length columns) cone (table columns whole).
Proof. exact check_private_sound. Qed.

Theorem private_ldp : forall k epsilon columns whole, 0 <= size epsilon ->
  check_private k [ldp k epsilon] columns whole = true ->
  is_ldp k (length columns) (size epsilon) (table columns whole).
Proof.
  intros k epsilon columns whole E H. apply check_private_sound in H as [C P].
  apply ldp_is_ldp; assumption.
Qed.

Theorem private_lip : forall k p lower upper columns whole, (forall x, (x < k)%nat -> 0 < entry p x) ->
  check_private k [Lift (Some lower) (Some upper) p] columns whole = true ->
  is_lip k (length columns) (entry p) (size lower) (size upper) (table columns whole).
Proof.
  intros k p lower upper columns whole PP H. apply check_private_sound in H as [_ P].
  apply lift_is_lip; assumption.
Qed.

(* And it keeps the limits on the channel as a whole. *)
Theorem within_limits : forall k cone limits columns whole, check_private k cone columns whole = true ->
  forallb (check_limit k columns whole) limits = true ->
  is_limited (length columns) limits (table columns whole).
Proof.
  intros k cone limits columns whole P H g I. rewrite forallb_forall in H. apply check_limit_sound with k.
  - unfold check_private in P. apply andb_true_iff in P as [P _]. unfold check_channel in P.
    apply andb_true_iff in P as [P _]. rewrite forallb_forall in P. intros q Q x.
    specialize (P q Q). apply andb_true_iff in P as [_ P]. rewrite forallb_forall in P.
    destruct (Nat.lt_ge_cases x (length q)) as [X | X]; [apply Z.leb_le, P, nth_In, X|].
    rewrite nth_overflow by exact X. lia.
  - exact (H g I).
Qed.

(* If a certificate passes, no private channel is below the bound. *)
Theorem bounded : forall s c b, check_bound s c b = true -> is_bound s (real b).
Proof. exact check_bound_sound. Qed.

(* A table and a certificate that pass: the loss of the table is at most v, and that of every private
   channel, with any answers, at least b. So v - b is how far from the best it is. *)
Theorem best_within : forall s columns whole answers v c b low unit w,
  aim s = Loss low low unit (Some w) ->
  check_private (inputs s) (cone s) columns whole = true ->
  forallb (check_limit (inputs s) columns whole) (limits s) = true ->
  check_value s columns whole answers v = true -> check_bound s c b = true ->
  let D := cost_of low unit in
  let n := length columns in
  is_private (inputs s) n (cone s) (table columns whole) /\
  is_limited n (limits s) (table columns whole) /\
  mean_loss (inputs s) n (entry w) D (fun y => N.to_nat (nth y answers 0%N)) (table columns whole)
    <= real v + Rabs (real v) / 10 ^ 12 /\
  forall m C answer, is_channel (inputs s) m C -> is_private (inputs s) m (cone s) C ->
    is_limited m (limits s) C -> (forall y, (y < m)%nat -> (answer y < length low)%nat) ->
    real b <= mean_loss (inputs s) m (entry w) D answer C.
Proof.
  intros s columns whole answers v c b low unit w A P LI V B D n.
  destruct (check_private_sound _ _ _ _ P) as [CH PR]. split; [exact PR|].
  split; [exact (within_limits _ _ _ _ _ P LI)|]. split.
  - unfold check_private in P. apply andb_true_iff in P as [P _].
    apply (check_value_sound s columns whole answers v P V D low low unit (Some w) A).
    intros. unfold D. lra.
  - intros m C answer CC CP CL CA. apply check_bound_sound in B. unfold is_bound in B. rewrite A in B.
    apply (B m C CC CP CL D answer); [|exact CA]. intros. unfold D. lra.
Qed.

(* The mean squared error of any estimate s y of f, where v = p f and the constant is Sum_x p f^2. *)
Theorem squared_error_bounded : forall s constant p v unit b f, aim s = Squares constant p [v] unit ->
  is_bound s b ->
  let k := inputs s in
  let p' := fun x => IZR (nth x p 0%Z) / IZR (Zpos unit) in
  (forall x, (x < k)%nat -> 0 <= p' x) ->
  (forall x, (x < k)%nat -> IZR (nth x v 0%Z) / IZR (Zpos unit) = p' x * f x) ->
  real constant = sum k (fun x => p' x * (f x * f x)) ->
  forall n C estimate, is_channel k n C -> is_private k n (cone s) C -> is_limited n (limits s) C ->
  b <= squared_error k n p' f estimate C.
Proof.
  intros s constant p v unit b f A B k p' PP PV K n C g CC CP CL. unfold is_bound in B. rewrite A in B.
  apply Rle_trans with (1 := B n C CC CP CL). fold k. cbn [sum_of_squares].
  destruct CC as [N S].
  set (V := fun y => sum k (fun x => IZR (nth x v 0%Z) / IZR (Zpos unit) * C x y)).
  set (M := fun y => sum k (fun x => p' x * C x y)).
  assert (E : squared_error k n p' f g C =
    real constant + sum n (fun y => g y * g y * M y - 2 * g y * V y)).
  { unfold squared_error. rewrite K.
    rewrite (sum_ext k (fun x => p' x * sum n _) (fun x => p' x * (f x * f x) +
      sum n (fun y => p' x * (g y * g y) * C x y - 2 * g y * (p' x * f x) * C x y))).
    - rewrite sum_plus. f_equal. rewrite sum_swap. apply sum_ext. intros y Y. unfold M, V.
      rewrite <- !sum_scale.
      replace (sum k (fun i => g y * g y * (p' i * C i y)) -
        sum k (fun i => 2 * g y * (IZR (nth i v 0%Z) / IZR (Zpos unit) * C i y))) with
        (sum k (fun i => g y * g y * (p' i * C i y)) +
        (-1) * sum k (fun i => 2 * g y * (IZR (nth i v 0%Z) / IZR (Zpos unit) * C i y))) by ring.
      rewrite <- sum_scale, <- sum_plus. apply sum_ext. intros x X. rewrite PV by exact X. ring.
    - intros x X. rewrite <- (Rmult_1_r (p' x * (f x * f x))), <- (S x X), <- !sum_scale, <- sum_plus.
      apply sum_ext. intros y Y. ring. }
  rewrite E. unfold Rminus at 1. apply Rplus_le_compat_l.
  rewrite (sum_ext n _ (fun y => V y * V y / M y)) by
    (intros; rewrite Rplus_0_r; reflexivity).
  replace (- sum n (fun y => V y * V y / M y)) with ((-1) * sum n (fun y => V y * V y / M y)) by ring.
  rewrite <- sum_scale. apply sum_le. intros y Y.
  assert (MP : 0 <= M y).
  { apply sum_nonneg. intros x X. apply Rmult_le_pos; [apply PP, X | apply N; assumption]. }
  destruct (Req_dec (M y) 0) as [Z0 | Z0].
  - assert (T : forall x, (x < k)%nat -> p' x * C x y = 0).
    { intros x X. unfold M in Z0. apply Rle_antisym; [|apply Rmult_le_pos; [apply PP, X | apply N; auto]].
      rewrite <- Z0. clear - X PP N Y. revert X PP N. generalize k. clear k.
      induction k; intros X PP N; [lia|]. simpl.
      assert (G : 0 <= p' k * C k y) by (apply Rmult_le_pos; [apply PP | apply N]; auto; lia).
      destruct (Nat.eq_dec x k) as [-> | NE].
      - assert (0 <= sum k (fun x => p' x * C x y)); [|lra]. apply sum_nonneg. intros i I.
        apply Rmult_le_pos; [apply PP | apply N]; auto; lia.
      - assert (p' x * C x y <= sum k (fun x => p' x * C x y)); [|lra].
        apply IHk; [lia | |]; intros; [apply PP | apply N]; auto; lia. }
    assert (VZ : V y = 0).
    { unfold V. rewrite (sum_ext k _ (fun _ => 0)); [apply sum_zero|]. intros x X. rewrite PV by exact X.
      specialize (T x X). replace (p' x * f x * C x y) with (f x * (p' x * C x y)) by ring.
      rewrite T. ring. }
    rewrite VZ, Z0. unfold Rdiv. lra.
  - apply Rmult_le_reg_r with (M y); [lra|].
    replace (-1 * (V y * V y / M y) * M y) with (- (V y * V y)) by (field; exact Z0).
    assert (0 <= (g y * M y - V y) * (g y * M y - V y)) by apply Rle_0_sqr. nra.
Qed.

(* Nothing is assumed but the classical real numbers of the standard library. *)
Print Assumptions private.
Print Assumptions within_limits.
Print Assumptions bounded.
Print Assumptions best_within.
Print Assumptions check_squares_sound.
Print Assumptions squared_error_bounded.

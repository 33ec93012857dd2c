(* check_value: the loss of the table itself, with the answers that are read from its outputs, is at
   most v, or v up to one part in 10^12 (a file shows it as a float). *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive.
Require Import Definitions Exponential Sums Arrays Privacy PrivacySound Cone Spanned Rays Relaxations.
Import ListNotations.
Open Scope Z_scope.

(* D_y[x] C[x, y] of one output; and the sum over outputs for each input. *)
Definition products (a b : list Z) : list Z := map (fun p => fst p * snd p) (combine a b).

Fixpoint losses (k : nat) (high : array (list Z)) (answers : list N) (columns : list (list Z))
    : option (list Z) :=
  match answers, columns with
  | [], [] => Some (repeat 0 k)
  | j :: answers', q :: columns' =>
      match pick high j, losses k high answers' columns' with
      | Some cost, Some sums =>
          if Nat.eqb (length cost) k && Nat.eqb (length q) k
          then Some (add (products cost q) sums) else None
      | _, _ => None
      end
  | _, _ => None
  end.

(* top / bottom <= v + |v| / 10^12 *)
Definition at_most (top bottom : Z) (v : fraction) : bool :=
  top * Zpos (den v) * 10 ^ 12 <=? bottom * (num v * 10 ^ 12 + Z.abs (num v)).

(* Sum_y Sum_j (v_j . q_y)^2 / (p . q_y), over UNIT times whole times unit, each term rounded down. *)
Fixpoint squares (p : list Z) (vs columns : list (list Z)) : option Z :=
  match columns with
  | [] => Some 0
  | q :: rest =>
      let a := times p q in
      let b := power vs q in
      match squares p vs rest with
      | Some t =>
          if 0 <? a then Some (b * UNIT / a + t)
          else if (a =? 0) && (b =? 0) then Some t else None
      | None => None
      end
  end.

Definition check_squares (k : nat) (constant : fraction) (p : list Z) (vs : list (list Z))
    (unit whole : positive) (columns : list (list Z)) (most : fraction) : bool :=
  forallb (fun v => Nat.eqb (length v) k) (p :: vs) &&
  match squares p vs columns with
  | Some t =>
      let bottom := (unit * whole)%positive in
      at_most (num constant * Zpos bottom * UNIT - t * Zpos (den constant))
        (Zpos (den constant * bottom) * UNIT) most
  | None => false
  end.

Definition check_value (s : statement) (columns : list (list Z)) (whole : positive)
    (answers : list N) (most : fraction) : bool :=
  let k := inputs s in
  match aim s with
  | Loss low high unit weights =>
      Nat.eqb (length high) (length low) &&
      match losses k (array_of high) answers columns with
      | Some sums =>
          match weights with
          | Some w => Nat.eqb (length (entries w)) k && forallb (Z.leb 0) (entries w) &&
              at_most (total (products (entries w) sums)) (Zpos (over w * (whole * unit))) most
          | None => negb (Nat.eqb k 0) && forallb (fun t => at_most t (Zpos (whole * unit)) most) sums
          end
      | None => false
      end
  | Squares constant p vs unit => check_squares k constant p vs unit whole columns most
  end.

(* Of each column the cheapest answer: no part of what is proved, which is about any answers. *)
Fixpoint cheapest (nodes : list (list Z)) (j best : N) (least : option Z) (q : list Z) : N :=
  match nodes with
  | [] => best
  | cost :: rest =>
      let c := inner cost q in
      match least with
      | Some l => if c <? l then cheapest rest (N.succ j) j (Some c) q
                  else cheapest rest (N.succ j) best least q
      | None => cheapest rest (N.succ j) j (Some c) q
      end
  end.

Definition best_answers (s : statement) (columns : list (list Z)) : list N :=
  match aim s with
  | Loss _ high _ (Some w) =>
      map (cheapest (map (products (entries w)) high) 0 0 None) columns
  | _ => []
  end.

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

Lemma products_length : forall a b, length a = length b -> length (products a b) = length b.
Proof. intros. unfold products. rewrite map_length, combine_length. lia. Qed.

Lemma products_nth : forall a b x, length a = length b ->
  nth x (products a b) 0%Z = (nth x a 0 * nth x b 0)%Z.
Proof.
  induction a; destruct b; intros x L; try discriminate; [destruct x; reflexivity|].
  destruct x; [reflexivity|]. simpl. apply IHa. injection L. auto.
Qed.

Lemma losses_sound : forall k high columns answers sums,
  losses k (array_of high) answers columns = Some sums ->
  length answers = length columns /\ length sums = k /\
  (forall y, (y < length columns)%nat -> (N.to_nat (nth y answers 0%N) < length high)%nat) /\
  forall x, IZR (nth x sums 0%Z) = sum (length columns) (fun y =>
    IZR (nth x (nth (N.to_nat (nth y answers 0%N)) high []) 0%Z)
    * IZR (nth x (nth y columns []) 0%Z)).
Proof.
  induction columns as [|q columns]; intros [|j answers] sums E; simpl in E; try discriminate.
  - injection E as <-. repeat split; simpl; [apply repeat_length | intros; lia|].
    intro x. rewrite nth_repeat. reflexivity.
  - destruct (pick (array_of high) j) as [cost|] eqn:J; [|discriminate].
    destruct (losses k (array_of high) answers columns) as [rest|] eqn:R0; [|discriminate].
    destruct (Nat.eqb (length cost) k && Nat.eqb (length q) k) eqn:L; [|discriminate].
    apply andb_true_iff in L as [LC LQ]. apply Nat.eqb_eq in LC, LQ. injection E as <-.
    destruct (IHcolumns _ _ R0) as (A & B & I & S).
    apply pick_nth with (d := []) in J as [J LJ].
    assert (LP : length (products cost q) = k) by (rewrite products_length; lia).
    repeat split.
    + simpl. congruence.
    + rewrite add_length; lia.
    + intros [|y] Y; simpl in *; [exact LJ | apply I; lia].
    + intro x. cbn [length]. rewrite sum_first. cbn [nth]. rewrite J, <- S.
      rewrite add_nth by lia. rewrite plus_IZR, products_nth, mult_IZR by lia. reflexivity.
Qed.

Lemma at_most_sound : forall top bottom v, (0 < bottom)%Z -> at_most top bottom v = true ->
  IZR top / IZR bottom <= real v + Rabs (real v) / 10 ^ 12.
Proof.
  intros top bottom v B H. unfold at_most in H. apply Z.leb_le, IZR_le in H.
  apply IZR_lt in B. assert (D : 0 < IZR (Zpos (den v))) by (apply IZR_lt; reflexivity).
  unfold real, Rdiv at 4. rewrite Rabs_mult, Rabs_inv by lra.
  rewrite (Rabs_pos_eq (IZR (Zpos (den v)))) by lra. rewrite <- abs_IZR.
  repeat rewrite ?mult_IZR, ?plus_IZR in H. set (t := 10 ^ 12).
  change (IZR (10 ^ 12)) with (IZR 1000000000000) in H.
  assert (T : IZR 1000000000000 = t) by (unfold t; lra). rewrite T in H.
  assert (TP : 0 < t) by (unfold t; lra).
  apply Rmult_le_reg_r with (IZR bottom * IZR (Zpos (den v)) * t).
  - repeat apply Rmult_lt_0_compat; lra.
  - replace (IZR top / IZR bottom * (IZR bottom * IZR (Zpos (den v)) * t))
      with (IZR top * IZR (Zpos (den v)) * t) by (field; lra).
    replace ((IZR (num v) / IZR (Zpos (den v)) + IZR (Z.abs (num v)) * / IZR (Zpos (den v)) / t) *
      (IZR bottom * IZR (Zpos (den v)) * t))
      with (IZR bottom * (IZR (num v) * t + IZR (Z.abs (num v)))) by (field; lra). exact H.
Qed.

Lemma largest_le : forall n f b, (0 < n)%nat -> (forall i, (i < n)%nat -> f i <= b) ->
  largest n f <= b.
Proof.
  induction n; intros f b P H; [lia|]. destruct n; [apply H; lia|].
  change (Rmax (largest (S n) f) (f (S n)) <= b). apply Rmax_lub; [apply IHn|]; auto; lia.
Qed.

Theorem check_value_sound : forall s columns whole answers v,
  check_channel (inputs s) columns whole = true -> check_value s columns whole answers v = true ->
  forall D low high unit weights, aim s = Loss low high unit weights ->
  (forall x j, (x < inputs s)%nat -> (j < length low)%nat -> D x j <= cost_of high unit x j) ->
  let n := length columns in
  let answer := fun y => N.to_nat (nth y answers 0%N) in
  let most := real v + Rabs (real v) / 10 ^ 12 in
  (forall y, (y < n)%nat -> (answer y < length low)%nat) /\
  match weights with
  | Some w => mean_loss (inputs s) n (entry w) D answer (table columns whole) <= most
  | None => worst_loss (inputs s) n D answer (table columns whole) <= most
  end.
Proof.
  intros s columns whole answers v CH H D low high unit weights A HD n answer most.
  unfold check_value in H. rewrite A in H. set (k := inputs s) in *.
  apply andb_true_iff in H as [LH H]. apply Nat.eqb_eq in LH.
  destruct (losses k (array_of high) answers columns) as [sums|] eqn:L; [|discriminate].
  apply losses_sound in L as (LA & LS & I & S).
  assert (NN : forall x y, (x < k)%nat -> (y < n)%nat -> 0 <= IZR (nth x (nth y columns []) 0%Z)).
  { intros x y X Y. unfold check_channel in CH. apply andb_true_iff in CH as [CH _].
    rewrite forallb_forall in CH. assert (IC : In (nth y columns []) columns) by (apply nth_In, Y).
    specialize (CH _ IC). apply andb_true_iff in CH as [L N]. apply Nat.eqb_eq in L.
    rewrite forallb_forall in N. apply IZR_le, Z.leb_le, N, nth_In. lia. }
  assert (WP : 0 < IZR (Zpos whole)) by (apply IZR_lt; reflexivity).
  assert (UP : 0 < IZR (Zpos unit)) by (apply IZR_lt; reflexivity).
  assert (E : forall x, (x < k)%nat ->
    loss_at n D answer (table columns whole) x <= IZR (nth x sums 0%Z) / IZR (Zpos (whole * unit))).
  { intros x X. rewrite S. unfold loss_at.
    apply Rle_trans with (sum n (fun y => / IZR (Zpos (whole * unit)) *
      (IZR (nth x (nth (answer y) high []) 0%Z) * IZR (nth x (nth y columns []) 0%Z)))).
    - apply sum_le. intros y Y. unfold table.
      assert (HD' : D x (answer y) <= cost_of high unit x (answer y)).
      { apply HD; [exact X|]. rewrite <- LH. apply I, Y. }
      apply Rle_trans with (cost_of high unit x (answer y) *
        (IZR (nth x (nth y columns []) 0%Z) / IZR (Zpos whole))).
      + apply Rmult_le_compat_r; [|exact HD'].
        unfold Rdiv. apply Rmult_le_pos; [apply NN; auto | left; apply Rinv_0_lt_compat, WP].
      + unfold cost_of. rewrite Pos2Z.inj_mul, mult_IZR. right. field. lra.
    - rewrite sum_scale. unfold Rdiv. rewrite Rmult_comm. apply Rle_refl. }
  split; [intros y Y; rewrite <- LH; apply I, Y|].
  destruct weights as [w|].
  - apply andb_true_iff in H as [H V]. apply andb_true_iff in H as [LW PW]. apply Nat.eqb_eq in LW.
    apply at_most_sound in V; [|reflexivity]. apply Rle_trans with (2 := V).
    rewrite total_sum, products_length, LS by lia. unfold mean_loss, Rdiv. rewrite Rmult_comm.
    rewrite <- sum_scale. apply sum_le. intros x X.
    apply Rle_trans with (entry w x * (IZR (nth x sums 0%Z) / IZR (Zpos (whole * unit)))).
    + apply Rmult_le_compat_l; [apply entry_nonneg, PW | apply E, X].
    + rewrite products_nth by lia. unfold entry. rewrite !Pos2Z.inj_mul, !mult_IZR. right. field.
      repeat split; try lra. apply not_0_IZR. discriminate.
  - apply andb_true_iff in H as [K V]. rewrite forallb_forall in V. apply largest_le.
    + destruct k; [discriminate | lia].
    + intros x X. apply Rle_trans with (1 := E x X). apply at_most_sound; [reflexivity|].
      apply V, nth_In. lia.
Qed.

(* ---- squares ---------------------------------------------------------------------------------- *)

Lemma dot_scale : forall f c q, dot f (fun x => c * q x) = c * dot f q.
Proof.
  induction f as [|a f]; intros c q; [simpl; ring|]. cbn [dot].
  rewrite (IHf c (fun i => q (S i))). ring.
Qed.

Lemma gain_scale : forall p vs c q, c <> 0 -> gain p vs (fun x => c * q x) = c * gain p vs q.
Proof.
  intros p vs c q C. induction vs as [|v vs]; cbn [gain]; [ring|]. rewrite IHvs, !dot_scale.
  destruct (Req_dec (dot p q) 0) as [-> | N]; [|field; auto].
  unfold Rdiv. rewrite Rmult_0_r, Rinv_0. ring.
Qed.

Lemma squares_sound : forall k p vs unit whole columns t,
  length p = k -> (forall v, In v vs -> length v = k) -> squares p vs columns = Some t ->
  IZR t / (IZR (Zpos (unit * whole)) * IZR UNIT) <= sum (length columns) (fun y =>
    sum_of_squares k vs unit (fun x => table columns whole x y) /
      inner_of k p unit (fun x => table columns whole x y)).
Proof.
  intros k p vs unit whole columns t LP LV. pose proof unit_pos as UP. revert t.
  assert (OP : 0 < IZR (Zpos unit)) by (apply IZR_lt; reflexivity).
  assert (WP : 0 < IZR (Zpos whole)) by (apply IZR_lt; reflexivity).
  rewrite Pos2Z.inj_mul, mult_IZR.
  induction columns as [|q columns]; intros t E; cbn [squares] in E.
  - injection E as <-. simpl. unfold Rdiv. rewrite Rmult_0_l. lra.
  - destruct (squares p vs columns) as [s|] eqn:S; [|discriminate].
    specialize (IHcolumns s eq_refl). cbn [length]. rewrite sum_first.
    set (rest := sum (length columns) _) in IHcolumns.
    match goal with |- _ <= _ + ?r => change r with rest end.
    rewrite squares_gain by assumption.
    assert (T : gain p vs (fun x => table (q :: columns) whole x O) =
      / IZR (Zpos whole) * gain p vs (column q)).
    { rewrite <- gain_scale by (apply Rinv_neq_0_compat; lra).
      assert (D : forall f, dot f (fun x => table (q :: columns) whole x O) =
        dot f (fun x => / IZR (Zpos whole) * column q x)).
      { intro f. apply dot_ext. intros. unfold table, column. cbn [nth]. unfold Rdiv. ring. }
      clear - D. induction vs as [|v vs]; cbn [gain]; [reflexivity|]. rewrite IHvs, !D. reflexivity. }
    rewrite T. destruct (0 <? times p q)%Z eqn:A.
    + apply some_eq in E. subst t. apply Z.ltb_lt in A. rewrite plus_IZR.
      pose proof (div_le (power vs q * UNIT) _ A) as D. apply IZR_lt in A. rewrite times_dot in A, D.
      rewrite mult_IZR, (power_gain p) in D by exact A.
      assert (G : IZR (power vs q * UNIT / times p q) / (IZR (Zpos unit) * IZR (Zpos whole) * IZR UNIT) <=
        / IZR (Zpos whole) * gain p vs (column q) / IZR (Zpos unit)).
      { apply Rmult_le_reg_r with (IZR (Zpos unit) * IZR (Zpos whole) * IZR UNIT);
          [repeat apply Rmult_lt_0_compat; lra|].
        unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r
          by (repeat apply Rmult_integral_contrapositive_currified; lra).
        apply Rle_trans with (1 := D). right. field. repeat split; lra. }
      unfold Rdiv in *. lra.
    + destruct ((times p q =? 0)%Z && (power vs q =? 0)%Z) eqn:Z0; [|discriminate].
      apply some_eq in E. subst t. apply andb_true_iff in Z0 as [_ Z0]. apply Z.eqb_eq in Z0.
      rewrite gain_zero; [unfold Rdiv in *; lra|].
      intros v I. rewrite <- times_dot. f_equal. apply (power_zero vs q Z0 v I).
Qed.

Theorem check_squares_sound : forall s columns whole answers most constant p vs unit,
  check_value s columns whole answers most = true ->
  aim s = Squares constant p vs unit ->
  real constant - sum (length columns) (fun y =>
    sum_of_squares (inputs s) vs unit (fun x => table columns whole x y) /
      inner_of (inputs s) p unit (fun x => table columns whole x y))
  <= real most + Rabs (real most) / 10 ^ 12.
Proof.
  intros s columns whole answers most constant p vs unit H A. unfold check_value in H.
  rewrite A in H. unfold check_squares in H. set (k := inputs s) in *.
  apply andb_true_iff in H as [L E]. rewrite forallb_forall in L.
  destruct (squares p vs columns) as [t|] eqn:S; [|discriminate].
  apply squares_sound with (k := k) (unit := unit) (whole := whole) in S.
  2: { apply Nat.eqb_eq, L. left. reflexivity. }
  2: { intros v I. apply Nat.eqb_eq, L. right. exact I. }
  pose proof unit_pos as UP.
  assert (UZ : (0 < UNIT)%Z) by (apply lt_IZR; exact UP).
  apply at_most_sound in E; [|apply Z.mul_pos_pos; [reflexivity | exact UZ]].
  apply Rle_trans with (2 := E).
  assert (D : 0 < IZR (Zpos (den constant))) by (apply IZR_lt; reflexivity).
  assert (B : 0 < IZR (Zpos (unit * whole))) by (apply IZR_lt; reflexivity).
  rewrite mult_IZR, minus_IZR, (Pos2Z.inj_mul (den constant)), !mult_IZR.
  set (b := IZR (Zpos (unit * whole))) in *.
  replace ((IZR (num constant) * b * IZR UNIT - IZR t * IZR (Zpos (den constant))) /
    (IZR (Zpos (den constant)) * b * IZR UNIT)) with (real constant - IZR t / (b * IZR UNIT)).
  - lra.
  - unfold real. field. repeat split; lra.
Qed.

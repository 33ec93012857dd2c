(* check_value: the loss of the table itself, with the answers that are read from its outputs, is at
   most v, or v up to one part in 10^12 (a file shows it as a float). *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive.
Require Import Definitions Exponential Sums Arrays Privacy PrivacySound Cone Relaxations.
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

(* Sum_y (v . q_y)^2 / (p . q_y), over UNIT times whole times unit, each term rounded down. *)
Fixpoint squares (p v : list Z) (columns : list (list Z)) : option Z :=
  match columns with
  | [] => Some 0
  | q :: rest =>
      let a := inner p q in
      let b := inner v q in
      match squares p v rest with
      | Some t =>
          if 0 <? a then Some (b * b * UNIT / a + t)
          else if (a =? 0) && (b =? 0) then Some t else None
      | None => None
      end
  end.

Definition check_square (k : nat) (constant : fraction) (p v : list Z) (unit whole : positive)
    (columns : list (list Z)) (most : fraction) : bool :=
  Nat.eqb (length p) k && Nat.eqb (length v) k &&
  match squares p v columns with
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
  | Square constant p v unit => check_square k constant p v unit whole columns most
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

Lemma inner_real : forall k a q (unit whole : positive), length a = k -> length q = k ->
  sum k (fun x => IZR (nth x a 0%Z) / IZR (Zpos unit) * (IZR (nth x q 0%Z) / IZR (Zpos whole))) =
  IZR (inner a q) / IZR (Zpos (unit * whole)).
Proof.
  intros k a q unit whole LA LQ. rewrite inner_sum by lia. rewrite LA.
  rewrite (sum_ext k _ (fun x => / IZR (Zpos (unit * whole)) *
    (IZR (nth x a 0%Z) * IZR (nth x q 0%Z)))).
  - rewrite sum_scale. unfold Rdiv. ring.
  - intros. rewrite Pos2Z.inj_mul, mult_IZR. field. split; apply not_0_IZR; discriminate.
Qed.

Lemma squares_sound : forall k p v unit whole columns t, length p = k -> length v = k ->
  (forall q, In q columns -> length q = k) -> squares p v columns = Some t ->
  IZR t / (IZR (Zpos (unit * whole)) * IZR UNIT) <= sum (length columns) (fun y =>
    let V := sum k (fun x => IZR (nth x v 0%Z) / IZR (Zpos unit) * table columns whole x y) in
    V * V / sum k (fun x => IZR (nth x p 0%Z) / IZR (Zpos unit) * table columns whole x y)).
Proof.
  intros k p v unit whole. pose proof unit_pos as UP.
  assert (BP : 0 < IZR (Zpos (unit * whole))) by (apply IZR_lt; reflexivity).
  induction columns as [|q columns]; intros t LP LV L E; cbn [squares] in E.
  - injection E as <-. simpl. unfold Rdiv. rewrite Rmult_0_l. lra.
  - destruct (squares p v columns) as [s|] eqn:S; [|discriminate].
    specialize (IHcolumns s LP LV (fun r H => L r (or_intror H)) eq_refl).
    cbn [length]. rewrite sum_first.
    unfold table at 1 2 3. cbn [nth].
    rewrite !(inner_real k) by (auto; apply L; left; reflexivity).
    set (B := IZR (Zpos (unit * whole))) in *.
    set (rest := sum (length columns) _) in IHcolumns.
    match goal with |- _ <= _ + ?r => change r with rest end.
    destruct (0 <? inner p q)%Z eqn:A.
    + injection E as <-. apply Z.ltb_lt in A. rewrite plus_IZR.
      pose proof (div_le (inner v q * inner v q * UNIT) _ A) as D. apply IZR_lt in A.
      rewrite !mult_IZR in D.
      assert (G : IZR (inner v q * inner v q * UNIT / inner p q) / (B * IZR UNIT) <=
        IZR (inner v q) / B * (IZR (inner v q) / B) / (IZR (inner p q) / B)).
      { apply Rmult_le_reg_r with (B * IZR UNIT); [apply Rmult_lt_0_compat; lra|].
        unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r
          by (apply Rmult_integral_contrapositive; lra).
        apply Rle_trans with (1 := D). right. field. lra. }
      unfold Rdiv in *. lra.
    + destruct ((inner p q =? 0)%Z && (inner v q =? 0)%Z) eqn:Z0; [|discriminate]. injection E as <-.
      apply andb_true_iff in Z0 as [_ Z0]. apply Z.eqb_eq in Z0. rewrite Z0.
      unfold Rdiv at 2 3 4. rewrite !Rmult_0_l. unfold Rdiv in *. lra.
Qed.

Theorem check_square_sound : forall s columns whole answers most constant p v unit,
  check_channel (inputs s) columns whole = true -> check_value s columns whole answers most = true ->
  aim s = Square constant p v unit ->
  let C := table columns whole in
  real constant - sum (length columns) (fun y =>
    let V := sum (inputs s) (fun x => IZR (nth x v 0%Z) / IZR (Zpos unit) * C x y) in
    V * V / sum (inputs s) (fun x => IZR (nth x p 0%Z) / IZR (Zpos unit) * C x y))
  <= real most + Rabs (real most) / 10 ^ 12.
Proof.
  intros s columns whole answers most constant p v unit CH H A C. unfold check_value in H.
  rewrite A in H. unfold check_square in H. set (k := inputs s) in *.
  apply andb_true_iff in H as [H E]. apply andb_true_iff in H as [LP LV]. apply Nat.eqb_eq in LP, LV.
  destruct (squares p v columns) as [t|] eqn:S; [|discriminate].
  assert (L : forall q, In q columns -> length q = k).
  { intros q I. unfold check_channel in CH. apply andb_true_iff in CH as [CH _].
    rewrite forallb_forall in CH. specialize (CH q I). apply andb_true_iff in CH as [CH _].
    apply Nat.eqb_eq, CH. }
  apply squares_sound with (k := k) (unit := unit) (whole := whole) in S; auto. fold C in S.
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

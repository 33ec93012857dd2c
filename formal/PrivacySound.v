(* check_private_sound: if the test of integers passes, then the table is a channel over the real
   numbers, and each of its columns keeps all rows of the cone, with real exponentials. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive.
Require Import Definitions Exponential Sums Priors Privacy.
Import ListNotations.
Open Scope R_scope.

Lemma BITS_ok : (0 <= BITS)%Z.
Proof. vm_compute. discriminate. Qed.

(* 2^BITS v <= e w, with e below 2^BITS e^a: v <= e^a w. *)
Lemma scaled_le : forall e a v w, IZR e <= two BITS * exp a -> 0 <= w ->
  v * two BITS <= IZR e * w -> v <= exp a * w.
Proof.
  intros e a v w E W H. pose proof (two_pos BITS BITS_ok) as P.
  apply Rmult_le_reg_r with (two BITS); [exact P|]. apply Rle_trans with (1 := H).
  replace (exp a * w * two BITS) with (two BITS * exp a * w) by ring.
  apply Rmult_le_compat_r; assumption.
Qed.

Lemma test_le : forall e a v w, IZR e <= two BITS * exp a -> (0 <= w)%Z ->
  (Z.shiftl v BITS <=? e * w)%Z = true -> IZR v <= exp a * IZR w.
Proof.
  intros e a v w E W H. apply scaled_le with e; [exact E | apply IZR_le, W|].
  rewrite <- shiftl_two by exact BITS_ok. rewrite <- mult_IZR. apply IZR_le, Z.leb_le, H.
Qed.

(* ---- the channel ------------------------------------------------------------------------------ *)

Lemma fold_add_length : forall k columns, (forall q, In q columns -> length q = k) ->
  length (fold_right add (repeat 0%Z k) columns) = k.
Proof.
  induction columns; simpl; intros H; [apply repeat_length|].
  rewrite add_length; [apply H; left; reflexivity|]. rewrite IHcolumns; auto.
Qed.

Lemma fold_add_nth : forall k columns x, (forall q, In q columns -> length q = k) -> (x < k)%nat ->
  IZR (nth x (fold_right add (repeat 0%Z k) columns) 0%Z) =
  sum (length columns) (fun y => IZR (nth x (nth y columns []) 0%Z)).
Proof.
  induction columns; intros x H X.
  - simpl. rewrite nth_repeat. reflexivity.
  - cbn [fold_right length]. rewrite add_nth.
    + rewrite sum_first, plus_IZR, IHcolumns; [reflexivity| |exact X]. intros; apply H; right; auto.
    + rewrite fold_add_length; [apply H; left; reflexivity|]. intros; apply H; right; auto.
Qed.

Lemma check_channel_sound : forall k columns whole, check_channel k columns whole = true ->
  is_channel k (length columns) (table columns whole).
Proof.
  intros k columns whole H. unfold check_channel in H. apply andb_true_iff in H as [C S].
  rewrite forallb_forall in C, S.
  assert (W : 0 < IZR (Zpos whole)) by (apply IZR_lt; reflexivity).
  assert (L : forall q, In q columns -> length q = k).
  { intros q I. specialize (C q I). apply andb_true_iff in C as [C _]. apply Nat.eqb_eq, C. }
  split.
  - intros x y X Y. unfold table. unfold Rdiv. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, W].
    apply IZR_le. assert (I : In (nth y columns []) columns) by (apply nth_In, Y).
    specialize (C _ I). apply andb_true_iff in C as [_ C]. rewrite forallb_forall in C.
    apply Z.leb_le, C, nth_In. rewrite (L _ I). exact X.
  - intros x X. unfold table.
    rewrite (sum_ext _ _ (fun y => / IZR (Zpos whole) * IZR (nth x (nth y columns []) 0%Z)))
      by (intros; unfold Rdiv; ring).
    rewrite sum_scale, <- fold_add_nth with (k := k) by assumption.
    assert (I : In (nth x (fold_right add (repeat 0%Z k) columns) 0%Z)
      (fold_right add (repeat 0%Z k) columns)).
    { apply nth_In. rewrite fold_add_length by assumption. exact X. }
    apply S, Z.eqb_eq in I. rewrite <- I. field. lra.
Qed.

(* ---- ratios on blocks ------------------------------------------------------------------------- *)

Definition below (m m' : floors) : Prop :=
  forall b v, floor_at m b = Some v -> exists w, floor_at m' b = Some w /\ (w <= v)%Z.

Lemma floor_add : forall m b v c,
  floor_at (PositiveMap.add (N.succ_pos b) v m) c = if N.eqb c b then Some v else floor_at m c.
Proof.
  intros. unfold floor_at. destruct (N.eqb_spec c b) as [-> | N].
  - apply PositiveMap.gss.
  - apply PositiveMap.gso. intro E. apply N. destruct c, b; simpl in E; lia.
Qed.

Lemma block_floors_below : forall block q m, below m (block_floors block q m).
Proof.
  induction block; destruct q; intros m; simpl; try (intros b v H; exists v; split; [exact H | lia]).
  intros b v H.
  set (least := match floor_at m a with Some w => Z.min z w | None => z end).
  destruct (N.eqb_spec b a) as [-> | N].
  - destruct (IHblock q (PositiveMap.add (N.succ_pos a) least m) a least) as (w & E & W).
    + rewrite floor_add, N.eqb_refl. reflexivity.
    + exists w. split; [exact E|]. unfold least in W. rewrite H in W. lia.
  - apply IHblock. rewrite floor_add. replace (N.eqb b a) with false; [exact H|].
    symmetry. apply N.eqb_neq, N.
Qed.

Lemma block_floors_least : forall block q m z, (z < length block)%nat -> length block = length q ->
  exists w, floor_at (block_floors block q m) (nth z block 0%N) = Some w /\ (w <= nth z q 0)%Z.
Proof.
  induction block; destruct q; intros m x X L; simpl in X; try lia; try discriminate.
  injection L as L. simpl block_floors.
  set (least := match floor_at m a with Some w => Z.min z w | None => z end).
  destruct x.
  - simpl. destruct (block_floors_below block q (PositiveMap.add (N.succ_pos a) least m) a least)
      as (w & E & W).
    + rewrite floor_add, N.eqb_refl. reflexivity.
    + exists w. split; [exact E|]. unfold least in W. destruct (floor_at m a); lia.
  - simpl nth. apply IHblock; [lia | exact L].
Qed.

Lemma check_blocks_sound : forall e m block protected q x w,
  check_blocks e m block protected q = true ->
  length protected = length block -> length q = length block -> (x < length block)%nat ->
  nth x protected false = true -> floor_at m (nth x block 0%N) = Some w ->
  (Z.shiftl (nth x q 0) BITS <=? e * w)%Z = true.
Proof.
  induction block; intros protected q x w H LP LQ X P F; simpl in X; [lia|].
  destruct protected; [discriminate|]. destruct q; [discriminate|].
  simpl in H. apply andb_true_iff in H as [H H'].
  destruct x.
  - simpl in P, F |- *. rewrite P, F in H. exact H.
  - simpl in P, F |- *. injection LP as LP. injection LQ as LQ. apply IHblock with protected; auto. lia.
Qed.

Lemma weighted_length : forall w q, length w = length q -> length (weighted w q) = length q.
Proof. intros. unfold weighted. rewrite map_length, combine_length. lia. Qed.

Lemma weighted_nth : forall w q x, length w = length q ->
  nth x (weighted w q) 0%Z = (nth x w 0 * nth x q 0)%Z.
Proof.
  induction w; destruct q; intros x L; try discriminate; [destruct x; reflexivity|].
  destruct x; [reflexivity|]. simpl. apply IHw. injection L. auto.
Qed.

Definition nonneg (q : list Z) : Prop := forall x, (0 <= nth x q 0)%Z.

Lemma check_constant_sound : forall k a block protected q,
  exponent_ok a = true -> length block = k -> length protected = k -> length q = k -> nonneg q ->
  check_constant (exp_lower BITS a) block protected q = true ->
  forall x z b, (x < k)%nat -> (z < k)%nat -> at_pair (Constant a block protected) x z = Some b ->
  IZR (nth x q 0%Z) <= exp b * IZR (nth z q 0%Z).
Proof.
  intros k a block protected q A LB LP LQ NN H x z b X Z0 E. simpl in E.
  destruct (nth x protected false) eqn:P; [|discriminate].
  destruct (N.eqb_spec (nth x block 0%N) (nth z block 0%N)) as [S | S]; [|discriminate].
  destruct (negb (Nat.eqb x z)); [|discriminate]. injection E as <-.
  unfold check_constant in H.
  destruct (block_floors_least block q (PositiveMap.empty Z) z) as (w & F & W); [lia|lia|].
  rewrite <- S in F. apply (check_blocks_sound _ _ _ _ _ x w) in H; try assumption; try lia.
  apply test_le with (exp_lower BITS a).
  - apply exp_lower_sound; [exact BITS_ok | exact A].
  - apply NN.
  - apply Z.leb_le in H. apply Z.leb_le. apply Z.le_trans with (1 := H).
    apply Z.mul_le_mono_nonneg_l; [apply exp_lower_nonneg | exact W].
Qed.

(* ---- a matrix of exponents -------------------------------------------------------------------- *)

Lemma value_map_find : forall values n m p,
  PositiveMap.find p (value_map values n m) =
  if (n <=? p)%positive && (Pos.to_nat p - Pos.to_nat n <? length values)%nat
  then option_map (exp_lower BITS) (nth_error values (Pos.to_nat p - Pos.to_nat n))
  else PositiveMap.find p m.
Proof.
  induction values; intros n m p; simpl.
  - rewrite andb_false_r. reflexivity.
  - rewrite IHvalues. destruct (Pos.leb_spec n p) as [L | L]; simpl.
    + destruct (Pos.eq_dec n p) as [<- | N].
      * replace (Pos.succ n <=? n)%positive with false
          by (symmetry; apply Pos.leb_gt; lia).
        rewrite Nat.sub_diag. simpl. apply PositiveMap.gss.
      * replace (Pos.succ n <=? p)%positive with true by (symmetry; apply Pos.leb_le; lia).
        rewrite Pos2Nat.inj_succ.
        replace (Pos.to_nat p - Pos.to_nat n)%nat with (S (Pos.to_nat p - S (Pos.to_nat n))) by lia.
        simpl. rewrite PositiveMap.gso by congruence. reflexivity.
    + replace (Pos.succ n <=? p)%positive with false by (symmetry; apply Pos.leb_gt; lia).
      simpl. apply PositiveMap.gso. lia.
Qed.

Lemma check_row_sound : forall row v at_ q z e, check_row v at_ row q = true ->
  length q = length row -> (z < length row)%nat -> at_ <> Some z -> nth z row None = Some e ->
  (Z.shiftl v BITS <=? e * nth z q 0)%Z = true.
Proof.
  induction row; intros v at_ q z e H L Z0 NE E; simpl in Z0; [lia|].
  destruct q; [discriminate|]. simpl in H. apply andb_true_iff in H as [H H'].
  destruct z.
  - simpl in E |- *. rewrite E in H. destruct at_ as [[|n]|]; [|exact H | exact H].
    exfalso. apply NE. reflexivity.
  - simpl in E |- *. injection L as L.
    apply IHrow with (match at_ with Some (S n) => Some n | _ => None end); auto; [lia|].
    intro W. destruct at_ as [[|n]|]; try discriminate. injection W as ->. apply NE. reflexivity.
Qed.

Lemma check_matrix_sound : forall bounds x0 rest q x z e, check_matrix x0 bounds rest q = true ->
  length rest = length bounds -> (x < length bounds)%nat ->
  length (nth x bounds []) = length q -> (z < length q)%nat -> (x0 + x)%nat <> z ->
  nth z (nth x bounds []) None = Some e ->
  (Z.shiftl (nth x rest 0) BITS <=? e * nth z q 0)%Z = true.
Proof.
  induction bounds; intros x0 rest q x z e H L X LQ Z0 NE E; simpl in X; [lia|].
  destruct rest; [discriminate|]. simpl in H. apply andb_true_iff in H as [H H'].
  injection L as L. destruct x.
  - simpl in *. apply (check_row_sound a z0 (Some x0) q z e); auto; [lia|].
    intro W. injection W as W. lia.
  - simpl in *. apply IHbounds with (S x0); auto; lia.
Qed.

Lemma check_matrix_private : forall k values table q,
  forallb exponent_ok values = true -> length table = k ->
  forallb (fun row => Nat.eqb (length row) k) table = true -> length q = k -> nonneg q ->
  check_matrix 0 (map (bounds_of (value_map values 1 (PositiveMap.empty Z))) table) q q = true ->
  forall x z b, (x < k)%nat -> (z < k)%nat -> at_pair (Matrix values table) x z = Some b ->
  IZR (nth x q 0%Z) <= exp b * IZR (nth z q 0%Z).
Proof.
  intros k values table q V LT LR LQ NN H x z b X Z0 E. simpl in E.
  destruct (Nat.eqb_spec x z) as [|NE]; [discriminate|].
  rewrite forallb_forall in V, LR.
  set (m := value_map values 1 (PositiveMap.empty Z)) in *.
  assert (R : length (nth x table []) = k).
  { apply Nat.eqb_eq, LR, nth_In. lia. }
  destruct (nth z (nth x table []) 0%N) as [|p] eqn:TN; [discriminate E|].
  replace (N.to_nat (Pos.pred_N p)) with (Pos.to_nat p - 1)%nat in E by lia.
  destruct (nth_error values (Pos.to_nat p - 1)) as [a|] eqn:A; [|discriminate E].
  injection E as <-.
  assert (F : PositiveMap.find p m = Some (exp_lower BITS a)).
  { unfold m. rewrite value_map_find. replace (1 <=? p)%positive with true
      by (symmetry; apply Pos.leb_le; lia).
    change (Pos.to_nat 1) with 1%nat. rewrite A. simpl.
    replace (Pos.to_nat p - 1 <? length values)%nat with true; [reflexivity|].
    symmetry. apply Nat.ltb_lt. apply nth_error_Some. congruence. }
  apply test_le with (exp_lower BITS a).
  - apply exp_lower_sound; [exact BITS_ok|]. apply V, nth_error_In with (1 := A).
  - apply NN.
  - apply check_matrix_sound with (x0 := 0%nat) (x := x) (z := z) (e := exp_lower BITS a) in H.
    + exact H.
    + rewrite map_length. lia.
    + rewrite map_length. lia.
    + change [] with (bounds_of m []). rewrite map_nth. unfold bounds_of. rewrite map_length. lia.
    + lia.
    + simpl. exact NE.
    + change [] with (bounds_of m []). rewrite map_nth. unfold bounds_of.
      set (g := fun n : N => _). change None with (g 0%N). rewrite map_nth, TN. simpl.
      rewrite F. reflexivity.
Qed.

(* ---- lifts ------------------------------------------------------------------------------------ *)

Lemma inner_from : forall a b t,
  fold_left (fun t p => t + fst p * snd p)%Z (combine a b) t = (t + inner a b)%Z.
Proof.
  unfold inner. induction a; destruct b; intros t; simpl; try lia.
  rewrite IHa. rewrite (IHa b (a * z)%Z). lia.
Qed.

Lemma inner_sum : forall a b, length a = length b ->
  IZR (inner a b) = sum (length a) (fun z => IZR (nth z a 0%Z) * IZR (nth z b 0%Z)).
Proof.
  induction a; destruct b; intros L; try discriminate; [reflexivity|].
  injection L as L. cbn [length]. rewrite sum_first. unfold inner. simpl. rewrite inner_from.
  rewrite plus_IZR, mult_IZR, IHa by exact L. reflexivity.
Qed.

Lemma inner_nonneg : forall a b, forallb (Z.leb 0) a = true -> nonneg b -> (0 <= inner a b)%Z.
Proof.
  induction a; destruct b; intros A B; unfold inner; simpl; try lia.
  simpl in A. apply andb_true_iff in A as [A A']. apply Z.leb_le in A. rewrite inner_from.
  pose proof (B 0%nat) as B0. simpl in B0.
  assert (0 <= inner a0 b)%Z; [|nia]. apply IHa; [exact A'|]. intro x. exact (B (S x)).
Qed.

(* P . q, where the prior has a denominator and the column a whole *)
Lemma prior_sum : forall k p q whole, length (entries p) = k -> length q = k ->
  sum k (fun z => entry p z * (IZR (nth z q 0%Z) / whole)) =
  IZR (inner (entries p) q) / (IZR (Zpos (over p)) * whole) \/ whole = 0.
Proof.
  intros k p q whole L Q. destruct (Req_dec whole 0) as [W | W]; [right; exact W | left].
  assert (O : 0 < IZR (Zpos (over p))) by (apply IZR_lt; reflexivity).
  rewrite inner_sum by lia. rewrite L.
  rewrite (sum_ext _ _ (fun z => / (IZR (Zpos (over p)) * whole) *
    (IZR (nth z (entries p) 0%Z) * IZR (nth z q 0%Z)))).
  - rewrite sum_scale. unfold Rdiv. ring.
  - intros. unfold entry. field. split; lra.
Qed.

Lemma check_lift_sound : forall k lower upper p q whole,
  well_formed k (Lift lower upper p) = true -> length q = k -> nonneg q -> 0 < whole ->
  check_lift (option_map (exp_lower BITS) upper) (option_map (exp_lower BITS) lower) p q = true ->
  keeps k (Lift lower upper p) (fun x => IZR (nth x q 0%Z) / whole).
Proof.
  intros k lower upper p q whole WF LQ NN W H. cbn [well_formed] in WF.
  apply andb_true_iff in WF as [WF PP]. apply andb_true_iff in WF as [WF LP].
  apply andb_true_iff in WF as [OL OU]. apply Nat.eqb_eq in LP.
  unfold check_lift in H. apply andb_true_iff in H as [U D].
  assert (O : 0 < IZR (Zpos (over p))) by (apply IZR_lt; reflexivity).
  pose proof (inner_nonneg _ _ PP NN) as M. set (m := inner (entries p) q) in *.
  destruct (prior_sum k p q whole LP LQ) as [S | S]; [|lra].
  assert (OW : 0 < IZR (Zpos (over p)) * whole) by (apply Rmult_lt_0_compat; lra).
  intros x X. rewrite S. fold m. split; intros a E; rewrite E in *; simpl in *.
  - rewrite forallb_forall in U. assert (I : In (nth x q 0%Z) q) by (apply nth_In; lia).
    apply U in I. assert (I' : IZR (nth x q 0%Z * Zpos (over p)) <= exp (size a) * IZR m).
    { apply test_le with (exp_lower BITS a); [|exact M | exact I].
      apply exp_lower_sound; [exact BITS_ok | exact OU]. }
    rewrite mult_IZR in I'. apply Rmult_le_reg_r with (IZR (Zpos (over p)) * whole); [exact OW|].
    replace (exp (size a) * (IZR m / (IZR (Zpos (over p)) * whole)) * (IZR (Zpos (over p)) * whole))
      with (exp (size a) * IZR m) by (field; lra).
    replace (IZR (nth x q 0%Z) / whole * (IZR (Zpos (over p)) * whole))
      with (IZR (nth x q 0%Z) * IZR (Zpos (over p))) by (field; lra). exact I'.
  - rewrite forallb_forall in D. assert (I : In (nth x q 0%Z) q) by (apply nth_In; lia).
    apply D in I. assert (I' : IZR m <= exp (size a) * IZR (nth x q 0%Z * Zpos (over p))).
    { apply test_le with (exp_lower BITS a); [| |exact I].
      - apply exp_lower_sound; [exact BITS_ok | exact OL].
      - specialize (NN x). lia. }
    rewrite mult_IZR in I'. rewrite exp_Ropp. pose proof (exp_pos (size a)) as EP.
    apply Rmult_le_reg_r with (exp (size a) * (IZR (Zpos (over p)) * whole));
      [apply Rmult_lt_0_compat; assumption|].
    replace (/ exp (size a) * (IZR m / (IZR (Zpos (over p)) * whole)) *
      (exp (size a) * (IZR (Zpos (over p)) * whole))) with (IZR m) by (field; lra).
    replace (IZR (nth x q 0%Z) / whole * (exp (size a) * (IZR (Zpos (over p)) * whole)))
      with (exp (size a) * (IZR (nth x q 0%Z) * IZR (Zpos (over p)))) by (field; lra). exact I'.
Qed.

(* ---- listed rows ------------------------------------------------------------------------------ *)

Lemma side_num_sound : forall row q whole a b, 0 < whole -> side_num row q = (a, b) ->
  (0 < b)%Z /\ sparse row (fun x => IZR (nth x q 0%Z) / whole) = IZR a / IZR b / whole.
Proof.
  induction row as [|[i c] row]; intros q whole a b W E; simpl in E.
  - injection E as <- <-. split; [lia|]. simpl. field. lra.
  - fold (side_num row q) in E. destruct (side_num row q) as [a' b'] eqn:F. injection E as <- <-.
    destruct (IHrow q whole a' b' W F) as [B S].
    split; [lia|]. cbn [sparse]. rewrite S. unfold real.
    apply IZR_lt in B. assert (0 < IZR (Zpos (den c))) by (apply IZR_lt; reflexivity).
    rewrite plus_IZR, !mult_IZR. field. repeat split; lra.
Qed.

Lemma side_num_nonneg : forall row q a b, side_ok row = true -> nonneg q -> side_num row q = (a, b) ->
  (0 <= a)%Z.
Proof.
  induction row as [|[i c] row]; intros q a b O N E; simpl in E.
  - injection E as <- <-. lia.
  - fold (side_num row q) in E. destruct (side_num row q) as [a' b'] eqn:F. injection E as <- <-.
    simpl in O. apply andb_true_iff in O as [O O']. apply Z.leb_le in O.
    specialize (IHrow q a' b' O' N F). specialize (N (N.to_nat i)).
    destruct (side_num_sound row q 1 a' b' ltac:(lra) F) as [B _].
    assert (0 <= num c * nth (N.to_nat i) q 0)%Z by nia. nia.
Qed.

Lemma check_listed_sound : forall row q whole, 0 < whole -> nonneg q ->
  exponent_ok (exponent_of row) = true -> side_ok (right row) = true ->
  check_listed (exp_lower BITS (exponent_of row)) row q = true ->
  exp (- size (exponent_of row)) * sparse (left row) (fun x => IZR (nth x q 0%Z) / whole)
    <= sparse (right row) (fun x => IZR (nth x q 0%Z) / whole).
Proof.
  intros row q whole W N A O H. unfold check_listed in H.
  destruct (side_num (left row) q) as [a b] eqn:L. destruct (side_num (right row) q) as [c d] eqn:R.
  pose proof (side_num_nonneg _ _ _ _ O N R) as C.
  apply side_num_sound with (whole := whole) in L as [B LS]; [|exact W].
  apply side_num_sound with (whole := whole) in R as [D RS]; [|exact W].
  rewrite LS, RS. apply test_le with (a := size (exponent_of row)) in H;
    [|apply exp_lower_sound; [exact BITS_ok | exact A] | nia].
  rewrite !mult_IZR in H. apply IZR_lt in B. apply IZR_lt in D.
  rewrite exp_Ropp. set (e := exp (size (exponent_of row))) in *. assert (0 < e) by apply exp_pos.
  assert (P : 0 < e * IZR b * IZR d * whole) by (repeat apply Rmult_lt_0_compat; lra).
  apply Rmult_le_reg_r with (e * IZR b * IZR d * whole); [exact P|].
  replace (/ e * (IZR a / IZR b / whole) * (e * IZR b * IZR d * whole)) with (IZR a * IZR d)
    by (field; lra).
  replace (IZR c / IZR d / whole * (e * IZR b * IZR d * whole)) with (e * (IZR c * IZR b))
    by (field; lra). exact H.
Qed.

(* ---- lifts over sets of priors ---------------------------------------------------------------- *)

Lemma check_lift_over_sound : forall k lower upper s q whole, set_ok k s = true ->
  opt_ok lower = true -> opt_ok upper = true -> length q = k -> nonneg q -> 0 < whole ->
  check_lift_over (option_map (exp_lower BITS) upper) (option_map (exp_lower BITS) lower) s q = true ->
  forall p, in_set k s p -> keeps_lift k lower upper p (fun x => IZR (nth x q 0%Z) / whole).
Proof.
  intros k lower upper s q whole OK OL OU L NN W H p P x X. apply andb_true_iff in H as [HU HD].
  assert (BP : (0 <= BITS)%Z) by (vm_compute; discriminate).
  assert (U : 0 < IZR (Zpos (set_unit s))) by (apply IZR_lt; reflexivity).
  set (u := IZR (Zpos (set_unit s))) in *. pose proof (two_pos BITS BP) as TP.
  assert (M : sum k (fun z => p z * (IZR (nth z q 0%Z) / whole)) =
    sum k (fun z => p z * IZR (nth z q 0%Z)) / whole).
  { rewrite (sum_ext k _ (fun z => / whole * (p z * IZR (nth z q 0%Z)))) by (intros; field; lra).
    rewrite sum_scale. field. lra. }
  rewrite M. set (m := sum k (fun z => p z * IZR (nth z q 0%Z))) in *.
  assert (IN : In (nth x q 0%Z) q) by (apply nth_In; lia).
  set (v := nth x q 0%Z) in *.
  assert (UP : u * m <= IZR (most_over s q)) by (apply (most_over_sound k); auto; lia).
  assert (LOW : IZR (- most_over s (map Z.opp q)) <= u * m).
  { pose proof (most_over_sound k s p (map Z.opp q) OK P ltac:(rewrite map_length; exact L) ltac:(lia)) as G.
    rewrite (sum_ext k _ (fun z => -1 * (p z * IZR (nth z q 0%Z)))) in G.
    - rewrite sum_scale in G. fold m u in G. rewrite opp_IZR. lra.
    - intros z Z0. rewrite (nth_indep _ 0%Z (- 0)%Z) by (rewrite map_length; lia).
      rewrite (map_nth Z.opp), opp_IZR. ring. }
  split; intros a ->; cbn [option_map opt_ok] in *.
  - rewrite forallb_forall in HU. specialize (HU v IN). apply Z.leb_le in HU.
    replace (- exp_lower BITS a * most_over s (map Z.opp q))%Z with
      (exp_lower BITS a * (- most_over s (map Z.opp q)))%Z in HU by ring.
    apply IZR_le in HU.
    rewrite shiftl_two in HU by exact BP. rewrite !mult_IZR in HU.
    fold u in HU.
    pose proof (exp_lower_sound BITS a BP OU) as E. pose proof (exp_lower_nonneg BITS a) as EN.
    apply IZR_le in EN. set (e := IZR (exp_lower BITS a)) in *.
    assert (A : IZR v * u * two BITS <= e * (u * m)).
    { apply Rle_trans with (1 := HU). apply Rmult_le_compat_l; assumption. }
    assert (A' : IZR v * two BITS <= e * m).
    { apply Rmult_le_reg_l with u; [exact U|]. lra. }
    apply Rmult_le_reg_r with whole; [exact W|].
    replace (IZR v / whole * whole) with (IZR v) by (field; lra).
    replace (exp (size a) * (m / whole) * whole) with (exp (size a) * m) by (field; lra).
    destruct (Rle_lt_dec 0 m) as [MN | MN].
    + apply Rmult_le_reg_r with (two BITS); [exact TP|]. apply Rle_trans with (1 := A').
      apply Rmult_le_compat_r with (r := m) in E; [|exact MN]. lra.
    + exfalso. assert (G : 0 <= m); [|lra]. apply sum_nonneg. intros z Z0. apply Rmult_le_pos; [apply P, Z0|].
      apply IZR_le, NN.
  - rewrite forallb_forall in HD. specialize (HD v IN). apply Z.leb_le, IZR_le in HD.
    rewrite shiftl_two in HD by exact BP. rewrite !mult_IZR in HD. fold u in HD.
    pose proof (exp_lower_sound BITS a BP OL) as E.
    assert (VN : 0 <= IZR v) by apply IZR_le, NN. set (e := IZR (exp_lower BITS a)) in *.
    assert (A : m * two BITS <= e * IZR v).
    { apply Rmult_le_reg_l with u; [exact U|]. apply Rmult_le_compat_r with (r := two BITS) in UP; [|lra]. lra. }
    assert (B : m <= exp (size a) * IZR v).
    { apply Rmult_le_reg_r with (two BITS); [exact TP|]. apply Rle_trans with (1 := A).
      apply Rmult_le_compat_r with (r := IZR v) in E; [|exact VN]. lra. }
    rewrite exp_Ropp. apply Rmult_le_reg_l with (exp (size a) * whole).
    + apply Rmult_lt_0_compat; [apply exp_pos | exact W].
    + pose proof (exp_pos (size a)) as EP.
      replace (exp (size a) * whole * (/ exp (size a) * (m / whole))) with m by (field; lra).
      replace (exp (size a) * whole * (IZR v / whole)) with (exp (size a) * IZR v) by (field; lra). exact B.
Qed.

(* ---- all generators --------------------------------------------------------------------------- *)

Lemma test_sound : forall k g q whole, well_formed k g = true -> length q = k -> nonneg q ->
  0 < whole -> test (prepare g) q = true -> keeps k g (fun x => IZR (nth x q 0%Z) / whole).
Proof.
  intros k g q whole WF LQ NN W H. destruct g as [e weights | lower upper p | rows | lower upper s].
  - cbn [well_formed] in WF. apply andb_true_iff in WF as [WF WE]. apply andb_true_iff in WF as [LW PW].
    apply Nat.eqb_eq in LW. rewrite forallb_forall in PW.
    assert (NW : nonneg (weighted weights q)).
    { intro x. rewrite weighted_nth by lia. specialize (NN x).
      destruct (Nat.lt_ge_cases x (length weights)) as [X | X].
      - assert (I : In (nth x weights 0%Z) weights) by (apply nth_In, X).
        apply PW, Z.ltb_lt in I. nia.
      - rewrite (nth_overflow weights) by exact X. lia. }
    assert (LQ' : length (weighted weights q) = k) by (rewrite weighted_length; lia).
    assert (G : forall x z b, (x < k)%nat -> (z < k)%nat -> at_pair e x z = Some b ->
      IZR (nth x (weighted weights q) 0%Z) <= exp b * IZR (nth z (weighted weights q) 0%Z)).
    { destruct e as [a block protected | values table].
      - apply andb_true_iff in WE as [WE LP]. apply andb_true_iff in WE as [A LB].
        apply Nat.eqb_eq in LP, LB. apply check_constant_sound; auto.
      - apply andb_true_iff in WE as [WE LR]. apply andb_true_iff in WE as [V LT].
        apply Nat.eqb_eq in LT. apply check_matrix_private; auto. }
    intros x z a X Z0 E. specialize (G x z a X Z0 E).
    rewrite !weighted_nth, !mult_IZR in G by lia.
    apply Rmult_le_reg_r with whole; [exact W|].
    replace (IZR (nth x weights 0%Z) * (IZR (nth x q 0%Z) / whole) * whole)
      with (IZR (nth x weights 0%Z) * IZR (nth x q 0%Z)) by (field; lra).
    replace (exp a * (IZR (nth z weights 0%Z) * (IZR (nth z q 0%Z) / whole)) * whole)
      with (exp a * (IZR (nth z weights 0%Z) * IZR (nth z q 0%Z))) by (field; lra). exact G.
  - apply check_lift_sound; assumption.
  - simpl in H. rewrite forallb_forall in H. cbn [well_formed] in WF. rewrite forallb_forall in WF.
    intros row I. specialize (WF row I). apply andb_true_iff in WF as [WF _].
    apply andb_true_iff in WF as [WF RO]. apply andb_true_iff in WF as [A LO].
    apply check_listed_sound; auto.
    apply (H (exp_lower BITS (exponent_of row), row)). apply in_map_iff. exists row. auto.
  - cbn [well_formed] in WF. apply andb_true_iff in WF as [WF OK]. apply andb_true_iff in WF as [OL OU].
    intros p P. apply check_lift_over_sound with (s := s); assumption.
Qed.

Theorem check_private_sound : forall k cone columns whole,
  check_private k cone columns whole = true ->
  is_channel k (length columns) (table columns whole) /\
  is_private k (length columns) cone (table columns whole).
Proof.
  intros k cone columns whole H. unfold check_private in H. apply andb_true_iff in H as [C G].
  split; [apply check_channel_sound, C|].
  intros g y I Y. rewrite forallb_forall in G. specialize (G g I).
  unfold check_generator in G. apply andb_true_iff in G as [WF T]. rewrite forallb_forall in T.
  assert (IC : In (nth y columns []) columns) by (apply nth_In, Y).
  unfold check_channel in C. apply andb_true_iff in C as [C _]. rewrite forallb_forall in C.
  specialize (C _ IC). apply andb_true_iff in C as [L N]. apply Nat.eqb_eq in L.
  rewrite forallb_forall in N. apply test_sound; auto.
  - intro x. destruct (Nat.lt_ge_cases x (length (nth y columns []))) as [X | X].
    + apply Z.leb_le, N, nth_In, X.
    + rewrite nth_overflow by exact X. lia.
  - apply IZR_lt. reflexivity.
Qed.

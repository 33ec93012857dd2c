(* Relaxation representatives: q_x >= s_x q_r(x) for the input r(x) that stands for x. So the cost of
   x, shrunk by s_x, moves to r(x), and the rest is forgotten. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive.
Require Import Definitions Exponential Sums Arrays Privacy Cone Ceilings Line Restrict.
Import ListNotations.
Open Scope Z_scope.

(* The inputs that stand for themselves. *)
Fixpoint themselves (i : N) (stands : list N) : list N :=
  match stands with
  | [] => []
  | r :: rest => if N.eqb r i then i :: themselves (N.succ i) rest else themselves (N.succ i) rest
  end.

(* s_x over UNIT, rounded down; 0 where nothing is bounded *)
Definition shrink_of (cs : list ceiling) (x r : N) : Z :=
  if N.eqb x r then UNIT
  else match ratio_above cs r x with
       | Some m => if 0 <? m then Z.shiftl (2 ^ (2 * GRID) / m) (UNIT_BITS - GRID) else 0
       | None => 0
       end.

Fixpoint shrinks_of (cs : list ceiling) (i : N) (stands : list N) : list Z :=
  match stands with
  | [] => []
  | r :: rest => shrink_of cs i r :: shrinks_of cs (N.succ i) rest
  end.

(* The costs w_x c_x, moved: o is the denominator of both together. *)
Fixpoint move_all (stands : list N) (shrunk w c : list Z) (o : Z) : array Z :=
  match stands, shrunk, w, c with
  | r :: stands', s :: shrunk', v :: w', d :: c' =>
      put r (s * (v * d) / o) (move_all stands' shrunk' w' c' o)
  | _, _, _, _ => PositiveMap.empty Z
  end.

Definition moved_column (stands kept : list N) (shrunk : list Z) (w : vector) (unit : positive)
    (column : list Z) : list Z :=
  let m := move_all stands shrunk (entries w) column (Zpos (over w * unit)) in
  map (get m) kept.

Definition UNIT_POSITIVE : positive := Z.to_pos UNIT.

Definition representatives (stands : list N) (s : statement) : option statement :=
  let k := inputs s in
  let kept := themselves 0 stands in
  let inside := counts kept in
  match aim s with
  | Loss low high unit (Some w) =>
      if distinct k kept && forallb (well_formed k) (cone s) && Nat.eqb (length stands) k &&
         forallb (fun r => N.ltb r (N.of_nat k)) stands && Nat.eqb (length (entries w)) k && forallb (Z.leb 0) (entries w) &&
         forallb (fun column => Nat.eqb (length column) k &&
           forallb (fun p => 0 <=? fst p * snd p) (combine (entries w) column)) low
      then
        let shrunk := shrinks_of (map ceiling_of (cone s)) 0 stands in
        Some {| inputs := length kept; cone := map (part_on kept) (cone s); limits := [];
                aim := Loss (map (moved_column stands kept shrunk w unit) low) [] UNIT_POSITIVE
                  (Some {| entries := repeat 1 (length kept); over := 1 |}) |}
      else None
  | _ => None
  end.

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

Lemma unit_positive : IZR (Zpos UNIT_POSITIVE) = IZR UNIT.
Proof. unfold UNIT_POSITIVE. rewrite Z2Pos.id; [reflexivity|]. apply lt_IZR. exact unit_pos. Qed.

Lemma unit_grid : IZR UNIT = two GRID * two (UNIT_BITS - GRID).
Proof. rewrite unit_two, <- two_add by (vm_compute; discriminate). reflexivity. Qed.

Lemma shrink_sound : forall k cone q x r, forallb (well_formed k) cone = true -> in_cone k cone q ->
  (N.to_nat x < k)%nat -> (N.to_nat r < k)%nat ->
  (0 <= shrink_of (map ceiling_of cone) x r)%Z /\
  IZR (shrink_of (map ceiling_of cone) x r) * q (N.to_nat r) <= IZR UNIT * q (N.to_nat x).
Proof.
  intros k cone q x r W Q X R0. unfold shrink_of.
  assert (UZ : (0 <= UNIT)%Z) by (apply le_IZR; left; exact unit_pos).
  assert (QX : 0 <= q (N.to_nat x)) by (apply Q, X). pose proof unit_pos as UP.
  destruct (N.eqb_spec x r) as [<- | NE]; [split; [exact UZ | lra]|].
  destruct (ratio_above _ r x) as [m|] eqn:M.
  - destruct (0 <? m)%Z eqn:P.
    + apply Z.ltb_lt in P. split.
      * apply Z.shiftl_nonneg, Z.div_pos; [|exact P]. apply Z.pow_nonneg. lia.
      * assert (UG : (0 <= UNIT_BITS - GRID)%Z) by (vm_compute; discriminate).
        rewrite unit_grid, shiftl_two by exact UG. pose proof (two_pos _ UG) as TP.
        assert (S : IZR (2 ^ (2 * GRID) / m) * q (N.to_nat r) <= two GRID * q (N.to_nat x)).
        { apply inverse_step; [exact P | apply Q, R0|].
          apply ratio_above_sound with (k := k) (cone := cone); assumption. }
        apply Rmult_le_compat_r with (r := two (UNIT_BITS - GRID)) in S; [|lra]. lra.
    + split; [lia|]. rewrite Rmult_0_l. apply Rmult_le_pos; lra.
  - split; [lia|]. rewrite Rmult_0_l. apply Rmult_le_pos; lra.
Qed.

Lemma move_all_get : forall stands shrunk w c o x, (0 < o)%Z ->
  (forall s, In s shrunk -> (0 <= s)%Z) ->
  forallb (fun p => 0 <=? fst p * snd p)%Z (combine w c) = true ->
  (0 <= get (move_all stands shrunk w c o) x)%Z.
Proof.
  induction stands as [|r stands]; intros shrunk w c o x O S P;
    [simpl; unfold get, pick; rewrite PositiveMap.gempty; lia|].
  destruct shrunk as [|s shrunk]; [simpl; unfold get, pick; rewrite PositiveMap.gempty; lia|].
  destruct w as [|v w]; [simpl; unfold get, pick; rewrite PositiveMap.gempty; lia|].
  destruct c as [|d c]; [simpl; unfold get, pick; rewrite PositiveMap.gempty; lia|].
  cbn [move_all]. cbn [combine forallb fst snd] in P. apply andb_true_iff in P as [P P'].
  apply Z.leb_le in P. rewrite get_put.
  assert (S0 : (0 <= s)%Z) by (apply S; left; reflexivity).
  assert (I := fun y => IHstands shrunk w c o y O (fun t H => S t (or_intror H)) P').
  destruct (N.eqb x r); [|apply I].
  assert (0 <= s * (v * d) / o)%Z by (apply Z.div_pos; [apply Z.mul_nonneg_nonneg|]; assumption).
  specialize (I r). lia.
Qed.

Lemma move_all_product : forall k q o stands shrunk w c qs, (0 < o)%Z ->
  (forall r, In r stands -> (N.to_nat r < k)%nat) -> (forall x, (x < k)%nat -> 0 <= q x) ->
  length shrunk = length stands -> length w = length stands -> length c = length stands ->
  forallb (fun p => 0 <=? fst p * snd p)%Z (combine w c) = true ->
  (forall j, (j < length stands)%nat ->
    IZR (nth j shrunk 0%Z) * q (N.to_nat (nth j stands 0%N)) <= IZR UNIT * qs j) ->
  product k (move_all stands shrunk w c o) q <=
  IZR UNIT * sum (length stands) (fun j => IZR (nth j w 0%Z) * IZR (nth j c 0%Z) / IZR o * qs j).
Proof.
  intros k q o. induction stands as [|r stands]; intros shrunk w c qs OP I N LS LW LC P H.
  - cbn [move_all]. rewrite product_empty. simpl. lra.
  - destruct shrunk as [|s shrunk]; [discriminate|]. destruct w as [|v w]; [discriminate|].
    destruct c as [|d c]; [discriminate|]. injection LS as LS. injection LW as LW. injection LC as LC.
    cbn [move_all]. cbn [combine forallb fst snd] in P. apply andb_true_iff in P as [P P'].
    apply Z.leb_le, IZR_le in P. rewrite mult_IZR in P.
    rewrite product_put by (apply I; left; reflexivity). cbn [length]. rewrite sum_first.
    cbn [nth]. specialize (IHstands shrunk w c (fun j => qs (S j)) OP (fun t T => I t (or_intror T)) N
      LS LW LC P').
    assert (H' := H O ltac:(simpl; lia)). cbn [nth] in H'.
    assert (IH := IHstands (fun j J => H (S j) ltac:(simpl; lia))).
    assert (QR : 0 <= q (N.to_nat r)) by (apply N, I; left; reflexivity).
    pose proof (div_le (s * (v * d)) o OP) as D. apply IZR_lt in OP. rewrite !mult_IZR in D.
    apply Rmult_le_compat_r with (r := q (N.to_nat r)) in D; [|exact QR].
    assert (G : IZR s * (IZR v * IZR d) / IZR o * q (N.to_nat r) <=
      IZR UNIT * (IZR v * IZR d / IZR o * qs O)).
    { apply Rmult_le_reg_r with (IZR o); [exact OP|].
      replace (IZR s * (IZR v * IZR d) / IZR o * q (N.to_nat r) * IZR o)
        with (IZR v * IZR d * (IZR s * q (N.to_nat r))) by (field; lra).
      replace (IZR UNIT * (IZR v * IZR d / IZR o * qs O) * IZR o)
        with (IZR v * IZR d * (IZR UNIT * qs O)) by (field; lra).
      apply Rmult_le_compat_l; [exact P | exact H']. }
    lra.
Qed.

Lemma shrinks_of_nth : forall cs stands i j, (j < length stands)%nat ->
  nth j (shrinks_of cs i stands) 0%Z = shrink_of cs (i + N.of_nat j) (nth j stands 0%N).
Proof.
  induction stands as [|r stands]; intros i j J; simpl in J; [lia|]. destruct j.
  - rewrite N.add_0_r. reflexivity.
  - cbn [shrinks_of nth]. rewrite IHstands by lia. f_equal. lia.
Qed.

Lemma shrinks_of_length : forall cs stands i, length (shrinks_of cs i stands) = length stands.
Proof. induction stands; intros; simpl; [reflexivity | rewrite IHstands; reflexivity]. Qed.

Theorem representatives_sound : forall stands s s' b,
  representatives stands s = Some s' -> is_bound s' b -> is_bound s b.
Proof.
  intros stands s s' b E H. unfold representatives in E. set (k := inputs s) in *.
  set (kept := themselves 0 stands) in *. clearbody kept.
  destruct (aim s) as [low high unit [w|] |] eqn:A; try discriminate.
  destruct (_ && _ && _ && _ && _ && _ && _) eqn:OK; [|discriminate]. injection E as <-.
  apply andb_true_iff in OK as [OK LL]. apply andb_true_iff in OK as [OK PW].
  apply andb_true_iff in OK as [OK LW].
  apply andb_true_iff in OK as [OK ST]. apply andb_true_iff in OK as [OK LS].
  apply andb_true_iff in OK as [D W]. apply Nat.eqb_eq in LS, LW.
  rewrite forallb_forall in ST, LL.
  set (shrunk := shrinks_of (map ceiling_of (cone s)) 0 stands) in *.
  set (low' := map (moved_column stands kept shrunk w unit) low) in *.
  unfold is_bound in *. cbn [inputs cone aim] in H. rewrite A. fold k.
  intros n C CC CP _ D' answer CD CA.
  specialize (H n _ (kept_channel k kept n C D CC) (kept_private k kept n _ C D W CP)
    (fun g (I : In g []) => match I with end) (cost_of low' UNIT_POSITIVE) answer).
  apply Rle_trans with (mean_loss (length kept) n
    (entry {| entries := repeat 1%Z (length kept); over := 1 |}) (cost_of low' UNIT_POSITIVE) answer
    (fun i y => C (kept_at kept i) y)).
  { apply H; [intros; lra|]. intros y Y. unfold low'. rewrite map_length. apply CA, Y. }
  unfold mean_loss, loss_at.
  rewrite (sum_ext (length kept) _ (fun i => sum n (fun y =>
    cost_of low' UNIT_POSITIVE i (answer y) * C (kept_at kept i) y))).
  2: { intros i I. unfold entry. cbn [entries over].
       assert (ONE1 : nth i (repeat 1%Z (length kept)) 0%Z = 1%Z).
       { revert I. generalize (length kept). clear. induction i; intros m I; destruct m; simpl; try lia.
         apply IHi. lia. }
       rewrite ONE1. field. }
  rewrite (sum_ext k (fun x => entry w x * _) (fun x => sum n (fun y =>
    entry w x * (D' x (answer y) * C x y)))) by (intros; rewrite sum_scale; reflexivity).
  rewrite sum_swap, (sum_swap k). apply sum_le. intros y Y.
  assert (Q : in_cone k (cone s) (fun x => C x y)).
  { split; [intros x X; apply CC; assumption | intros g I; apply (CP g y I Y)]. }
  assert (I : In (nth (answer y) low []) low) by (apply nth_In, CA, Y).
  set (column := nth (answer y) low []) in *.
  specialize (LL _ I). apply andb_true_iff in LL as [LC CN]. apply Nat.eqb_eq in LC.
  set (o := Zpos (over w * unit)) in *.
  set (m := move_all stands shrunk (entries w) column o).
  assert (OP : (0 < o)%Z) by reflexivity. pose proof unit_pos as UP.
  assert (RK : forall r, In r stands -> (N.to_nat r < k)%nat).
  { intros r R0. apply ST, N.ltb_lt in R0. lia. }
  assert (SH : forall t, In t shrunk -> (0 <= t)%Z).
  { intros t T. apply In_nth with (d := 0%Z) in T as (j & J & <-). unfold shrunk in J |- *.
    rewrite shrinks_of_length in J. rewrite shrinks_of_nth by exact J.
    apply (shrink_sound k (cone s) (fun x => C x y)); auto; [lia|].
    apply RK, nth_In, J. }
  apply Rle_trans with (product k m (fun x => C x y) / IZR UNIT).
  - unfold product.
    rewrite (sum_ext (length kept) _ (fun i => / IZR UNIT *
      (IZR (get m (N.of_nat (kept_at kept i))) * C (kept_at kept i) y))).
    + rewrite sum_scale. unfold Rdiv. rewrite Rmult_comm.
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, UP|].
      apply (kept_sum_le k kept (fun x => IZR (get m (N.of_nat x)) * C x y) D).
      intros x X _. apply Rmult_le_pos; [|apply CC; assumption].
      apply IZR_le, move_all_get; assumption.
    + intros i J. unfold cost_of, low'.
      rewrite (nth_indep _ [] (moved_column stands kept shrunk w unit []))
        by (rewrite map_length; apply CA, Y).
      rewrite map_nth. fold column. unfold moved_column. fold o. fold m.
      rewrite (nth_indep (map (get m) kept) 0%Z (get m 0%N)) by (rewrite map_length; exact J).
      rewrite map_nth, unit_positive. unfold kept_at. rewrite N2Nat.id. field. lra.
  - apply Rmult_le_reg_r with (IZR UNIT); [exact UP|]. unfold Rdiv at 1.
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rle_trans with (1 := move_all_product k (fun x => C x y) o stands shrunk (entries w) column
      (fun x => C x y) OP RK (proj1 Q) (shrinks_of_length _ _ _) ltac:(lia) ltac:(lia) CN
      ltac:(intros j J; unfold shrunk; rewrite shrinks_of_nth by exact J;
        pose proof (proj2 (shrink_sound k (cone s) (fun x => C x y) (0 + N.of_nat j) (nth j stands 0%N) W Q
          ltac:(lia) (RK _ (nth_In _ _ J)))) as G; cbn beta in G; rewrite N.add_0_l, Nat2N.id in G;
        rewrite N.add_0_l; exact G)).
    rewrite LS, Rmult_comm. apply Rmult_le_compat_r; [lra|]. apply sum_le. intros x X.
    rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply CC; assumption|].
    specialize (CD x (answer y) X (CA y Y)). unfold cost_of in CD. fold column in CD.
    apply Rle_trans with (entry w x * (IZR (nth x column 0%Z) / IZR (Zpos unit))).
    + right. unfold entry, o. rewrite Pos2Z.inj_mul, mult_IZR. field.
      split; apply not_0_IZR; discriminate.
    + apply Rmult_le_compat_l; [apply entry_nonneg, PW | exact CD].
Qed.

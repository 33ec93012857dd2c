(* Multipliers w >= 0 of rows of the cone. The cost c becomes c + w g, where g . q <= 0 for every
   column q of the cone; so what is safe for the new cost is safe for the old one. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive.
Require Import Definitions Exponential Sums Arrays Privacy.
Import ListNotations.
Open Scope Z_scope.

Definition UNIT_BITS : Z := 192.
Definition UNIT : Z := 2 ^ 192.

(* A multiplier of a row of the generator number place: w / UNIT times
   e^-a left - right, the row of the inputs x and other, or number x of listed rows. *)
Record multiplier := {
  place : N; is_upper : bool; row_x : N; row_other : N; weight : Z }.

(* What is computed once of a generator. *)
Inductive source :=
  | ConstantRows (shrink : Z) (block : array N) (protected : array bool) (weights : array Z)
  | MatrixRows (shrinks : array Z) (table : array (array N)) (weights : array Z)
  | LiftRows (up down : option Z)
  | ListedRows (nets : array (list (N * Z))).

Definition listed_net (row : listed_row) : list (N * Z) :=
  let shrink := exp_minus_lower UNIT_BITS (exponent_of row) in
  map (fun p => (fst p, shrink * num (snd p) / Zpos (den (snd p)))) (left row) ++
  map (fun p => (fst p, - UNIT * num (snd p) / Zpos (den (snd p)))) (right row).

Definition source_of (g : generator) : source :=
  match g with
  | Ratio (Constant a block protected) weights =>
      ConstantRows (exp_minus_lower UNIT_BITS a) (array_of block) (array_of protected)
        (array_of weights)
  | Ratio (Matrix values table) weights =>
      MatrixRows (array_of (map (exp_minus_lower UNIT_BITS) values))
        (array_of (map array_of table)) (array_of weights)
  | Lift lower upper p =>
      LiftRows (option_map (exp_minus_lower UNIT_BITS) upper)
        (option_map (exp_minus_lower UNIT_BITS) lower)
  | Rows rows => ListedRows (array_of (map listed_net rows))
  | LiftOver _ _ _ => ListedRows (array_of [])  (* the relaxation Members lists its priors *)
  end.

Definition ratio_net (shrink : Z) (weights : array Z) (x z : N) : option (list (N * Z)) :=
  match pick weights x, pick weights z with
  | Some v, Some w => Some [(x, shrink); (z, - w * UNIT / v)]
  | _, _ => None
  end.

(* A row as pairs (coordinate, integer over UNIT). The coordinate k + place is p . q of a lift. *)
Definition net (k : N) (s : source) (m : multiplier) : option (list (N * Z)) :=
  let x := row_x m in
  let z := row_other m in
  match s with
  | ConstantRows shrink block protected weights =>
      match pick protected x, pick block x, pick block z with
      | Some true, Some b, Some c =>
          if N.eqb b c && negb (N.eqb x z) then ratio_net shrink weights x z else None
      | _, _, _ => None
      end
  | MatrixRows shrinks table weights =>
      match pick table x with
      | Some row =>
          match pick row z with
          | Some (Npos n) =>
              match pick shrinks (Pos.pred_N n) with
              | Some shrink => if N.eqb x z then None else ratio_net shrink weights x z
              | None => None
              end
          | _ => None
          end
      | None => None
      end
  | LiftRows up down =>
      if N.ltb x k then
        match is_upper m, up, down with
        | true, Some shrink, _ => Some [(x, shrink); ((k + place m)%N, - UNIT)]
        | false, _, Some shrink => Some [((k + place m)%N, shrink); (x, - UNIT)]
        | _, _, _ => None
        end
      else None
  | ListedRows nets => pick nets x
  end.

Definition add_net (w : Z) (sum : array Z) (row : list (N * Z)) : array Z :=
  fold_left (fun t p => put (fst p) (Z.shiftr (snd p * w) UNIT_BITS) t) row sum.

Fixpoint add_all (k : N) (sources : array source) (ms : list multiplier) (sum : array Z)
    : option (array Z) :=
  match ms with
  | [] => Some sum
  | m :: rest =>
      if 0 <=? weight m then
        match pick sources (place m) with
        | Some s =>
            match net k s m with
            | Some row => add_all k sources rest (add_net (weight m) sum row)
            | None => None
            end
        | None => None
        end
      else None
  end.

(* c + s p, rounded down *)
Definition spread (s : Z) (p : vector) (c : list Z) : list Z :=
  if s =? 0 then c else add (map (fun v => s * v / Zpos (over p)) (entries p)) c.

Fixpoint spread_all (i : N) (cone : list generator) (sum : array Z) (c : list Z) : list Z :=
  match cone with
  | [] => c
  | Lift _ _ p :: rest => spread_all (N.succ i) rest sum (spread (get sum i) p c)
  | _ :: rest => spread_all (N.succ i) rest sum c
  end.

(* The cost of a node after its multipliers. *)
Definition multiplied (k : nat) (cone : list generator) (sources : array source)
    (ms : list multiplier) (cost : list Z) : option (list Z) :=
  match ms with
  | [] => Some cost
  | _ =>
      match add_all (N.of_nat k) sources ms (PositiveMap.empty Z) with
      | Some sum => Some (spread_all (N.of_nat k) cone sum (add (collect k 0 sum) cost))
      | None => None
      end
  end.

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

Definition in_cone (k : nat) (cone : list generator) (q : nat -> R) : Prop :=
  (forall x, (x < k)%nat -> 0 <= q x) /\ (forall g, In g cone -> keeps k g q).

Definition lift_mass (k : nat) (g : generator) (q : nat -> R) : R :=
  match g with Lift _ _ p => sum k (fun z => entry p z * q z) | _ => 0 end.

(* A column, followed by p . q of each lift. *)
Definition extended (k : nat) (cone : list generator) (q : nat -> R) (i : nat) : R :=
  if Nat.ltb i k then q i
  else match nth_error cone (i - k) with Some g => lift_mass k g q | None => 0 end.

Definition net_value (row : list (N * Z)) (q : nat -> R) : R :=
  fold_right (fun p t => IZR (snd p) * q (N.to_nat (fst p)) + t) 0 row.

Lemma unit_two : IZR UNIT = two UNIT_BITS.
Proof. reflexivity. Qed.

Lemma unit_pos : 0 < IZR UNIT.
Proof. rewrite unit_two. apply two_pos. vm_compute. discriminate. Qed.

Opaque UNIT.

Lemma extended_input : forall k cone q x, (x < k)%nat -> extended k cone q x = q x.
Proof. intros. unfold extended. apply Nat.ltb_lt in H. rewrite H. reflexivity. Qed.

Lemma extended_lift : forall k cone q i g, nth_error cone i = Some g ->
  extended k cone q (k + i) = lift_mass k g q.
Proof.
  intros. unfold extended. replace (k + i <? k)%nat with false by (symmetry; apply Nat.ltb_ge; lia).
  replace (k + i - k)%nat with i by lia. rewrite H. reflexivity.
Qed.

Lemma entry_nonneg : forall p x, forallb (Z.leb 0) (entries p) = true -> 0 <= entry p x.
Proof.
  intros p x H. unfold entry, Rdiv. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, IZR_lt; reflexivity].
  apply IZR_le. rewrite forallb_forall in H.
  destruct (Nat.lt_ge_cases x (length (entries p))) as [L | L].
  - apply Z.leb_le, H, nth_In, L.
  - rewrite nth_overflow by exact L. lia.
Qed.

Lemma extended_nonneg : forall k cone q i, forallb (well_formed k) cone = true -> in_cone k cone q ->
  0 <= extended k cone q i.
Proof.
  intros k cone q i W [N _]. unfold extended. destruct (Nat.ltb_spec i k) as [L | L]; [apply N, L|].
  destruct (nth_error cone (i - k)) as [g|] eqn:E; [|lra]. apply nth_error_In in E.
  rewrite forallb_forall in W. specialize (W g E). destruct g as [| lower upper p | |]; simpl; try lra.
  cbn [well_formed] in W. apply andb_true_iff in W as [_ P].
  apply sum_nonneg. intros z Z0. apply Rmult_le_pos; [apply entry_nonneg, P | apply N, Z0].
Qed.

Lemma shrink_le : forall a v, exponent_ok a = true -> 0 <= v ->
  IZR (exp_minus_lower UNIT_BITS a) * v <= IZR UNIT * (exp (- size a) * v).
Proof.
  intros a v A V. rewrite unit_two, <- Rmult_assoc. apply Rmult_le_compat_r; [exact V|].
  apply exp_minus_lower_sound; [vm_compute; discriminate | exact A].
Qed.

Definition below_zero (t : nat) (q : nat -> R) (row : list (N * Z)) : Prop :=
  net_value row q <= 0 /\ (forall p, In p row -> (N.to_nat (fst p) < t)%nat).

Lemma ratio_net_sound : forall k cone q a weights x z row,
  in_cone k cone q -> exponent_ok a = true ->
  length weights = k -> forallb (Z.ltb 0) weights = true ->
  IZR (nth (N.to_nat x) weights 0%Z) * q (N.to_nat x) <=
    exp (size a) * (IZR (nth (N.to_nat z) weights 0%Z) * q (N.to_nat z)) ->
  ratio_net (exp_minus_lower UNIT_BITS a) (array_of weights) x z = Some row ->
  below_zero (k + length cone) (extended k cone q) row.
Proof.
  intros k cone q a weights x z row [N _] A L P K E. unfold ratio_net in E.
  destruct (pick (array_of weights) x) as [v|] eqn:X; [|discriminate].
  destruct (pick (array_of weights) z) as [w|] eqn:Z0; [|discriminate]. injection E as <-.
  apply pick_nth with (d := 0%Z) in X as [V LX]. apply pick_nth with (d := 0%Z) in Z0 as [W LZ].
  rewrite V, W in K. rewrite L in LX, LZ. rewrite forallb_forall in P.
  assert (VP : (0 < v)%Z). { apply Z.ltb_lt, P. rewrite <- V. apply nth_In. lia. }
  split.
  - simpl. rewrite !extended_input by assumption.
    pose proof (N _ LX) as QX. pose proof (N _ LZ) as QZ.
    pose proof (shrink_le a _ A QX) as S. pose proof (div_le (- w * UNIT) v VP) as D.
    apply Rmult_le_compat_r with (r := q (N.to_nat z)) in D; [|exact QZ].
    assert (VR : 0 < IZR v) by (apply IZR_lt, VP).
    rewrite exp_Ropp in S. set (e := exp (size a)) in *. assert (EP : 0 < e) by apply exp_pos.
    set (qx := q (N.to_nat x)) in *. set (qz := q (N.to_nat z)) in *.
    rewrite mult_IZR, opp_IZR in D.
    assert (M : / e * qx <= IZR w / IZR v * qz).
    { apply Rmult_le_reg_l with (e * IZR v); [apply Rmult_lt_0_compat; lra|].
      replace (e * IZR v * (/ e * qx)) with (IZR v * qx) by (field; lra).
      replace (e * IZR v * (IZR w / IZR v * qz)) with (e * (IZR w * qz)) by (field; lra). exact K. }
    apply Rmult_le_compat_l with (r := IZR UNIT) in M; [|left; exact unit_pos].
    replace (- IZR w * IZR UNIT / IZR v * qz) with (- (IZR UNIT * (IZR w / IZR v * qz))) in D
      by (field; lra). lra.
  - intros p I. destruct I as [<- | [<- | []]]; simpl; lia.
Qed.

Lemma net_value_app : forall a b q, net_value (a ++ b) q = net_value a q + net_value b q.
Proof. induction a; intros; simpl; [lra | rewrite IHa; lra]. Qed.

Lemma net_value_map : forall c row q k cone,
  (forall p, In p row -> (N.to_nat (fst p) < k)%nat) -> (forall x, (x < k)%nat -> 0 <= q x) ->
  net_value (map (fun p => (fst p, (c * num (snd p) / Zpos (den (snd p)))%Z)) row)
    (extended k cone q) <= IZR c * sparse row q.
Proof.
  induction row as [|[i v] row]; intros q k cone I N; simpl; [lra|].
  assert (L : (N.to_nat i < k)%nat) by (apply (I (i, v)); left; reflexivity).
  rewrite extended_input by exact L. specialize (IHrow q k cone (fun p H => I p (or_intror H)) N).
  pose proof (div_le (c * num v) (Zpos (den v)) ltac:(reflexivity)) as D.
  apply Rmult_le_compat_r with (r := q (N.to_nat i)) in D; [|apply N, L].
  unfold real. rewrite mult_IZR in D.
  replace (IZR c * (IZR (num v) / IZR (Z.pos (den v)) * q (N.to_nat i) + sparse row q)) with
    (IZR c * IZR (num v) / IZR (Z.pos (den v)) * q (N.to_nat i) + IZR c * sparse row q)
    by (unfold Rdiv; ring). lra.
Qed.

Lemma sparse_nonneg : forall row q k, side_ok row = true ->
  (forall p, In p row -> (N.to_nat (fst p) < k)%nat) -> (forall x, (x < k)%nat -> 0 <= q x) ->
  0 <= sparse row q.
Proof.
  induction row as [|[i v] row]; intros q k O I N; simpl; [lra|].
  simpl in O. apply andb_true_iff in O as [O O']. apply Z.leb_le, IZR_le in O.
  assert (0 <= q (N.to_nat i)) by (apply N, (I (i, v)); left; reflexivity).
  specialize (IHrow q k O' (fun p H => I p (or_intror H)) N).
  assert (0 <= real v * q (N.to_nat i)); [|lra]. apply Rmult_le_pos; [|exact H].
  unfold real, Rdiv. apply Rmult_le_pos; [exact O|]. left. apply Rinv_0_lt_compat, IZR_lt. reflexivity.
Qed.

Lemma listed_net_sound : forall k cone q row, in_cone k cone q ->
  exponent_ok (exponent_of row) = true -> side_ok (left row) = true ->
  forallb (fun p => N.ltb (fst p) (N.of_nat k)) (left row ++ right row) = true ->
  exp (- size (exponent_of row)) * sparse (left row) q <= sparse (right row) q ->
  below_zero (k + length cone) (extended k cone q) (listed_net row).
Proof.
  intros k cone q row [N _] A O I K. rewrite forallb_forall in I.
  assert (IL : forall p, In p (left row) -> (N.to_nat (fst p) < k)%nat).
  { intros p H. assert (G := I p (in_or_app _ _ _ (or_introl H))). apply N.ltb_lt in G. lia. }
  assert (IR : forall p, In p (right row) -> (N.to_nat (fst p) < k)%nat).
  { intros p H. assert (G := I p (in_or_app _ _ _ (or_intror H))). apply N.ltb_lt in G. lia. }
  split.
  - unfold listed_net. rewrite net_value_app.
    pose proof (net_value_map (exp_minus_lower UNIT_BITS (exponent_of row)) (left row) q k cone
      IL N) as L.
    pose proof (net_value_map (- UNIT) (right row) q k cone IR N) as R0.
    pose proof (shrink_le (exponent_of row) (sparse (left row) q) A (sparse_nonneg _ _ k O IL N)) as S.
    apply Rmult_le_compat_l with (r := IZR UNIT) in K; [|left; exact unit_pos].
    rewrite opp_IZR in R0. lra.
  - intros p H. unfold listed_net in H. apply in_app_or in H as [H | H];
      apply in_map_iff in H as (r & <- & H); simpl; [apply IL in H | apply IR in H]; lia.
Qed.

Lemma net_sound : forall k cone g m row q,
  forallb (well_formed k) cone = true -> in_cone k cone q ->
  nth_error cone (N.to_nat (place m)) = Some g ->
  net (N.of_nat k) (source_of g) m = Some row ->
  below_zero (k + length cone) (extended k cone q) row.
Proof.
  intros k cone g m row q W Q G E. pose proof (nth_error_In _ _ G) as I.
  assert (PL : (N.to_nat (place m) < length cone)%nat) by (apply nth_error_Some; congruence).
  rewrite forallb_forall in W. assert (WG := W g I). destruct Q as [N K]. assert (KG := K g I).
  assert (Q : in_cone k cone q) by (split; assumption).
  destruct g as [e weights | lower upper p | rows | lower upper s]; cbn [well_formed] in WG.
  - apply andb_true_iff in WG as [WG WE]. apply andb_true_iff in WG as [LW PW].
    apply Nat.eqb_eq in LW. destruct e as [a block protected | values table].
    + apply andb_true_iff in WE as [WE LP]. apply andb_true_iff in WE as [A LB].
      apply Nat.eqb_eq in LP, LB. simpl in E.
      destruct (pick (array_of protected) (row_x m)) as [[|]|] eqn:P; try discriminate.
      destruct (pick (array_of block) (row_x m)) as [b|] eqn:B; [|discriminate].
      destruct (pick (array_of block) (row_other m)) as [c|] eqn:C; [|discriminate].
      destruct (N.eqb_spec b c) as [<-|]; [|discriminate].
      destruct (N.eqb_spec (row_x m) (row_other m)) as [|NE]; [discriminate|]. simpl in E.
      apply pick_nth with (d := false) in P as [P LX]. apply pick_nth with (d := 0%N) in B as [B _].
      apply pick_nth with (d := 0%N) in C as [C LZ].
      apply ratio_net_sound with (2 := A) (3 := LW) (4 := PW) (6 := E); auto.
      apply KG; [lia | lia |]. unfold at_pair. rewrite P, B, C, N.eqb_refl.
      replace (Nat.eqb (N.to_nat (row_x m)) (N.to_nat (row_other m))) with false; [reflexivity|].
      symmetry. apply Nat.eqb_neq. intro F. apply NE. lia.
    + apply andb_true_iff in WE as [WE LR]. apply andb_true_iff in WE as [V LT].
      apply Nat.eqb_eq in LT. simpl in E. rewrite forallb_forall in V, LR.
      destruct (pick (array_of (map array_of table)) (row_x m)) as [r|] eqn:R0; [|discriminate].
      apply pick_nth with (d := array_of []) in R0 as [R0 LX]. rewrite map_nth in R0. subst r.
      rewrite map_length in LX.
      destruct (pick (array_of (nth (N.to_nat (row_x m)) table [])) (row_other m)) as [[|n]|] eqn:T;
        try discriminate.
      apply pick_nth with (d := 0%N) in T as [T LZ].
      assert (L : length (nth (N.to_nat (row_x m)) table []) = k).
      { apply Nat.eqb_eq, LR, nth_In, LX. }
      destruct (pick _ (Pos.pred_N n)) as [shrink|] eqn:S; [|discriminate].
      destruct (N.eqb_spec (row_x m) (row_other m)) as [|NE]; [discriminate|].
      rewrite pick_array_of, nth_error_map in S.
      destruct (nth_error values (N.to_nat (Pos.pred_N n))) as [a|] eqn:A; [|discriminate].
      injection S as <-. pose proof (nth_error_In _ _ A) as IA.
      apply ratio_net_sound with (2 := V a IA) (3 := LW) (4 := PW) (6 := E); auto.
      apply KG; [lia | lia |]. unfold at_pair. rewrite T.
      replace (Nat.eqb (N.to_nat (row_x m)) (N.to_nat (row_other m))) with false.
      * simpl. rewrite A. reflexivity.
      * symmetry. apply Nat.eqb_neq. intro F. apply NE. lia.
  - apply andb_true_iff in WG as [WG PP]. apply andb_true_iff in WG as [WG LP].
    apply andb_true_iff in WG as [OL OU].
    cbn [net source_of] in E. destruct (N.ltb_spec (row_x m) (N.of_nat k)) as [X|]; [|discriminate].
    assert (LX : (N.to_nat (row_x m) < k)%nat) by lia. specialize (KG _ LX) as [KU KL].
    assert (EX := extended_input k cone q _ LX).
    assert (EV : extended k cone q (N.to_nat (N.of_nat k + place m)) =
      sum k (fun z => entry p z * q z)).
    { rewrite N2Nat.inj_add, Nat2N.id. apply extended_lift with (1 := G). }
    assert (M : 0 <= sum k (fun z => entry p z * q z)).
    { rewrite <- EV. apply extended_nonneg; [apply forallb_forall, W | exact Q]. }
    set (mass_ := sum k (fun z => entry p z * q z)) in *. pose proof unit_pos as UP.
    pose proof (N _ LX) as QX.
    destruct (is_upper m).
    + destruct upper as [a|]; simpl in E; [|discriminate]. injection E as <-. split.
      * cbn [net_value fold_right fst snd]. rewrite EX, EV. pose proof (shrink_le a _ OU QX) as S. rewrite exp_Ropp in S.
        specialize (KU a eq_refl). rewrite opp_IZR. set (e := exp (size a)) in *.
        assert (EP : 0 < e) by apply exp_pos.
        assert (/ e * q (N.to_nat (row_x m)) <= mass_).
        { apply Rmult_le_reg_l with e; [exact EP|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
          exact KU. }
        assert (IZR UNIT * (/ e * q (N.to_nat (row_x m))) <= IZR UNIT * mass_)
          by (apply Rmult_le_compat_l; lra). lra.
      * intros r [<- | [<- | []]]; simpl; lia.
    + destruct lower as [a|]; simpl in E; [|discriminate].
      assert (E' : row = [((N.of_nat k + place m)%N, exp_minus_lower UNIT_BITS a);
        (row_x m, (- UNIT)%Z)]).
      { injection E as <-. reflexivity. }
      rewrite E'. split.
      * cbn [net_value fold_right fst snd]. rewrite EX, EV. pose proof (shrink_le a _ OL M) as S. specialize (KL a eq_refl).
        rewrite opp_IZR.
        assert (IZR UNIT * (exp (- size a) * mass_) <= IZR UNIT * q (N.to_nat (row_x m)))
          by (apply Rmult_le_compat_l; lra). lra.
      * intros r [<- | [<- | []]]; simpl; lia.
  - simpl in E. rewrite pick_array_of, nth_error_map in E.
    destruct (nth_error rows (N.to_nat (row_x m))) as [r|] eqn:R0; [|discriminate].
    injection E as <-. apply nth_error_In in R0. rewrite forallb_forall in WG.
    specialize (WG r R0). apply andb_true_iff in WG as [WG IN]. apply andb_true_iff in WG as [WG _].
    apply andb_true_iff in WG as [A O]. apply listed_net_sound; auto.
  - simpl in E. rewrite pick_array_of in E. destruct (N.to_nat (row_x m)); discriminate.
Qed.

Lemma add_net_product : forall w t q row sum0, (0 <= w)%Z -> (forall i, 0 <= q i) ->
  (forall p, In p row -> (N.to_nat (fst p) < t)%nat) ->
  product t (add_net w sum0 row) q <= product t sum0 q + IZR w / IZR UNIT * net_value row q.
Proof.
  intros w t q. induction row as [|[i v] row]; intros sum0 W Q I; [simpl; lra|].
  change (add_net w sum0 ((i, v) :: row)) with
    (add_net w (put i (Z.shiftr (v * w) UNIT_BITS) sum0) row).
  apply Rle_trans with (1 := IHrow (put i (Z.shiftr (v * w) UNIT_BITS) sum0) W Q
    (fun p H => I p (or_intror H))).
  rewrite product_put by (apply (I (i, v)); left; reflexivity). cbn [net_value fold_right fst snd].
  fold (net_value row q).
  assert (B : (0 <= UNIT_BITS)%Z) by (vm_compute; discriminate).
  pose proof (shiftr_le (v * w) UNIT_BITS B) as S. rewrite <- unit_two in S.
  pose proof unit_pos as UP. rewrite mult_IZR in S.
  assert (S' : IZR (Z.shiftr (v * w) UNIT_BITS) <= IZR w / IZR UNIT * IZR v).
  { apply Rmult_le_reg_r with (IZR UNIT); [exact UP|]. apply Rle_trans with (1 := S).
    right. field. lra. }
  apply Rmult_le_compat_r with (r := q (N.to_nat i)) in S'; [|apply Q]. lra.
Qed.

Lemma add_all_product : forall k cone q ms sum0 sum1,
  forallb (well_formed k) cone = true -> in_cone k cone q ->
  add_all (N.of_nat k) (array_of (map source_of cone)) ms sum0 = Some sum1 ->
  product (k + length cone) sum1 (extended k cone q) <=
  product (k + length cone) sum0 (extended k cone q).
Proof.
  intros k cone q. induction ms as [|m ms]; intros sum0 sum1 W Q E; simpl in E.
  - injection E as <-. lra.
  - destruct (0 <=? weight m)%Z eqn:WM; [|discriminate]. apply Z.leb_le in WM.
    destruct (pick _ (place m)) as [s|] eqn:S; [|discriminate].
    rewrite pick_array_of, nth_error_map in S.
    destruct (nth_error cone (N.to_nat (place m))) as [g|] eqn:G; [|discriminate].
    injection S as <-. destruct (net _ _ _) as [row|] eqn:R0; [|discriminate].
    apply Rle_trans with (1 := IHms _ _ W Q E).
    destruct (net_sound k cone g m row q W Q G R0) as [V I].
    apply Rle_trans with (1 := add_net_product (weight m) _ _ row sum0 WM
      (fun i => extended_nonneg k cone q i W Q) I).
    assert (0 <= IZR (weight m) / IZR UNIT).
    { unfold Rdiv. apply Rmult_le_pos; [apply IZR_le, WM | left; apply Rinv_0_lt_compat, unit_pos]. }
    nra.
Qed.

Lemma spread_length : forall s p c, length (entries p) = length c -> length (spread s p c) = length c.
Proof.
  intros. unfold spread. destruct (s =? 0)%Z; [reflexivity|].
  rewrite add_length; rewrite map_length; assumption.
Qed.

Lemma map_dot_le : forall s o l q k, length l = k -> (forall x, (x < k)%nat -> 0 <= q x) ->
  dot (map (fun v => (s * v / Zpos o)%Z) l) q <=
  IZR s * sum k (fun z => IZR (nth z l 0%Z) / IZR (Zpos o) * q z).
Proof.
  intros s o l q k L N. rewrite dot_sum, map_length, L, <- sum_scale. apply sum_le. intros x X.
  rewrite (nth_indep _ 0%Z (s * 0 / Zpos o)%Z) by (rewrite map_length; lia).
  rewrite (map_nth (fun v => (s * v / Zpos o)%Z)).
  pose proof (div_le (s * nth x l 0%Z) (Zpos o) ltac:(reflexivity)) as D. rewrite mult_IZR in D.
  apply Rmult_le_compat_r with (r := q x) in D; [|apply N, X].
  unfold Rdiv in *. lra.
Qed.

Lemma spread_dot : forall k s p c q, length (entries p) = k -> length c = k ->
  (forall x, (x < k)%nat -> 0 <= q x) ->
  dot (spread s p c) q <= dot c q + IZR s * sum k (fun z => entry p z * q z).
Proof.
  intros k s p c q LP LC N. unfold spread. destruct (Z.eqb_spec s 0) as [-> | _]; [simpl; lra|].
  rewrite add_dot by (rewrite map_length; lia).
  pose proof (map_dot_le s (over p) (entries p) q k LP N). unfold entry. lra.
Qed.

Lemma spread_all_dot : forall k q sum0 cone0 i c, forallb (well_formed k) cone0 = true ->
  (forall x, (x < k)%nat -> 0 <= q x) -> length c = k ->
  length (spread_all i cone0 sum0 c) = k /\
  dot (spread_all i cone0 sum0 c) q <= dot c q +
    sum (length cone0) (fun j => IZR (get sum0 (i + N.of_nat j)) *
      match nth_error cone0 j with Some g => lift_mass k g q | None => 0 end).
Proof.
  intros k q sum0. induction cone0 as [|g cone0]; intros i c W N L; [simpl; split; [exact L | lra]|].
  simpl in W. apply andb_true_iff in W as [WG W]. cbn [length]. rewrite sum_first.
  rewrite (sum_ext (length cone0) _ (fun j => IZR (get sum0 (N.succ i + N.of_nat j)) *
      match nth_error cone0 j with Some g => lift_mass k g q | None => 0 end)).
  2: { intros j J. replace (i + N.of_nat (S j))%N with (N.succ i + N.of_nat j)%N by lia. reflexivity. }
  rewrite N.add_0_r. cbn [nth_error].
  destruct g as [e w | lower upper p | rows | lower upper p]; cbn [spread_all lift_mass].
  - specialize (IHcone0 (N.succ i) c W N L) as [A B]. split; [exact A | lra].
  - cbn [well_formed] in WG. apply andb_true_iff in WG as [WG _]. apply andb_true_iff in WG as [_ LP].
    apply Nat.eqb_eq in LP. pose proof (spread_dot k (get sum0 i) p c q LP L N) as S.
    assert (LS : length (spread (get sum0 i) p c) = k) by (rewrite spread_length; lia).
    specialize (IHcone0 (N.succ i) _ W N LS) as [A B]. split; [exact A | lra].
  - specialize (IHcone0 (N.succ i) c W N L) as [A B]. split; [exact A | lra].
  - specialize (IHcone0 (N.succ i) c W N L) as [A B]. split; [exact A | lra].
Qed.

(* The cost after multipliers is not above the cost before, at every column of the cone. *)
Theorem multiplied_sound : forall k cone ms cost cost',
  forallb (well_formed k) cone = true -> length cost = k ->
  multiplied k cone (array_of (map source_of cone)) ms cost = Some cost' ->
  length cost' = k /\ forall q, in_cone k cone q -> dot cost' q <= dot cost q.
Proof.
  intros k cone ms cost cost' W L E. unfold multiplied in E. destruct ms as [|m ms].
  { injection E as <-. split; [exact L | intros; lra]. }
  destruct (add_all _ _ _ _) as [sum1|] eqn:A; [|discriminate]. injection E as <-.
  assert (L' : length (add (collect k 0 sum1) cost) = k).
  { rewrite add_length; rewrite collect_length; auto. }
  split.
  { apply (spread_all_dot k (fun _ => 0) sum1 cone (N.of_nat k) _ W); [intros; lra | exact L']. }
  intros q Q.
  apply add_all_product with (2 := Q) in A; [|exact W]. rewrite product_empty in A.
  unfold product in A. rewrite sum_split in A.
  destruct (spread_all_dot k q sum1 cone (N.of_nat k) _ W (proj1 Q) L') as [_ S].
  apply Rle_trans with (1 := S). rewrite add_dot by (rewrite collect_length; auto).
  rewrite collect_dot.
  rewrite (sum_ext k (fun i => IZR (get sum1 (N.of_nat i)) * extended k cone q i)
    (fun j => IZR (get sum1 (0 + N.of_nat j)) * q j)) in A.
  2: { intros i I. rewrite extended_input by exact I. reflexivity. }
  rewrite (sum_ext (length cone) (fun i => IZR (get sum1 (N.of_nat (k + i))) * _)
    (fun j => IZR (get sum1 (N.of_nat k + N.of_nat j)) *
      match nth_error cone j with Some g => lift_mass k g q | None => 0 end)) in A.
  2: { intros i I. rewrite Nat2N.inj_add. f_equal. unfold extended.
    replace (k + i <? k)%nat with false by (symmetry; apply Nat.ltb_ge; lia).
    replace (k + i - k)%nat with i by lia. reflexivity. }
  lra.
Qed.

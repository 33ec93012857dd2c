(* The least bound on q_x / q_z that some ratio of the cone gives, rounded up: the cone grows. And
   sums over lists of inputs. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive.
Require Import Definitions Exponential Sums Arrays Privacy Cone.
Import ListNotations.
Open Scope Z_scope.

(* Bounds of cones are over 2^GRID. *)
Definition GRID : Z := 96.

Inductive ceiling :=
  | ConstantCeiling (up : option Z) (block : array N) (protected : array bool) (weights : array Z)
  | MatrixCeiling (ups : array (option Z)) (table : array (array N)) (weights : array Z)
  | NoCeiling.

Definition ceiling_of (g : generator) : ceiling :=
  match g with
  | Ratio (Constant a block protected) weights =>
      ConstantCeiling (exp_upper GRID a) (array_of block) (array_of protected) (array_of weights)
  | Ratio (Matrix values table) weights =>
      MatrixCeiling (array_of (map (exp_upper GRID) values)) (array_of (map array_of table))
        (array_of weights)
  | _ => NoCeiling
  end.

Definition scaled_up (up : option Z) (weights : array Z) (x z : N) : option Z :=
  match up, pick weights x, pick weights z with
  | Some e, Some v, Some w => Some (- (- (e * w) / v))
  | _, _, _ => None
  end.

Definition ceiling_at (c : ceiling) (x z : N) : option Z :=
  match c with
  | ConstantCeiling up block protected weights =>
      match pick protected x, pick block x, pick block z with
      | Some true, Some b, Some c =>
          if N.eqb b c && negb (N.eqb x z) then scaled_up up weights x z else None
      | _, _, _ => None
      end
  | MatrixCeiling ups table weights =>
      match pick table x with
      | Some row =>
          match pick row z with
          | Some (Npos n) =>
              match pick ups (Pos.pred_N n) with
              | Some up => if N.eqb x z then None else scaled_up up weights x z
              | None => None
              end
          | _ => None
          end
      | None => None
      end
  | NoCeiling => None
  end.

Fixpoint ratio_above (cs : list ceiling) (x z : N) : option Z :=
  match cs with
  | [] => None
  | c :: rest =>
      match ceiling_at c x z, ratio_above rest x z with
      | Some a, Some b => Some (Z.min a b)
      | Some a, None => Some a
      | None, b => b
      end
  end.

(* How often each input occurs in a list. *)
Definition counts (l : list N) : array Z := fold_right (fun x m => put x 1 m) (PositiveMap.empty Z) l.

(* The list has every input once. *)
Definition is_order (k : nat) (l : list N) : bool :=
  forallb (fun x => N.ltb x (N.of_nat k)) l && forallb (Z.eqb 1) (collect k 0 (counts l)).

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

Lemma grid_ok : (0 <= GRID)%Z.
Proof. vm_compute. discriminate. Qed.

Lemma scaled_up_sound : forall k cone q a weights x z m,
  in_cone k cone q -> exponent_ok a = true ->
  length weights = k -> forallb (Z.ltb 0) weights = true ->
  IZR (nth (N.to_nat x) weights 0%Z) * q (N.to_nat x) <=
    exp (size a) * (IZR (nth (N.to_nat z) weights 0%Z) * q (N.to_nat z)) ->
  scaled_up (exp_upper GRID a) (array_of weights) x z = Some m ->
  two GRID * q (N.to_nat x) <= IZR m * q (N.to_nat z).
Proof.
  intros k cone q a weights x z m [N _] A L P K E. unfold scaled_up in E.
  destruct (exp_upper GRID a) as [e|] eqn:U; [|discriminate].
  destruct (pick (array_of weights) x) as [v|] eqn:X; [|discriminate].
  destruct (pick (array_of weights) z) as [w|] eqn:Z0; [|discriminate]. injection E as <-.
  apply pick_nth with (d := 0%Z) in X as [V LX]. apply pick_nth with (d := 0%Z) in Z0 as [W LZ].
  rewrite V, W in K. rewrite L in LX, LZ. rewrite forallb_forall in P.
  assert (VP : (0 < v)%Z). { apply Z.ltb_lt, P. rewrite <- V. apply nth_In. lia. }
  assert (WP : (0 < w)%Z). { apply Z.ltb_lt, P. rewrite <- W. apply nth_In. lia. }
  pose proof (N _ LX) as QX. pose proof (N _ LZ) as QZ.
  pose proof (exp_upper_sound GRID a e grid_ok A U) as S.
  pose proof (div_le (- (e * w)) v VP) as D. apply IZR_lt in VP. apply IZR_lt in WP.
  rewrite opp_IZR, mult_IZR in D. rewrite opp_IZR.
  set (qx := q (N.to_nat x)) in *. set (qz := q (N.to_nat z)) in *.
  assert (S' : two GRID * exp (size a) * (IZR w * qz) <= IZR e * (IZR w * qz)).
  { apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | exact S]. }
  apply Rmult_le_compat_l with (r := two GRID) in K; [|left; apply two_pos, grid_ok].
  apply Rmult_le_compat_r with (r := qz) in D; [|exact QZ].
  assert (T : two GRID * qx <= IZR e * IZR w / IZR v * qz).
  { apply Rmult_le_reg_l with (IZR v); [exact VP|].
    replace (IZR v * (IZR e * IZR w / IZR v * qz)) with (IZR e * (IZR w * qz)) by (field; lra).
    lra. }
  unfold Rdiv in *. lra.
Qed.

Lemma ceiling_at_sound : forall k cone g q x z m,
  forallb (well_formed k) cone = true -> in_cone k cone q -> In g cone ->
  ceiling_at (ceiling_of g) x z = Some m ->
  two GRID * q (N.to_nat x) <= IZR m * q (N.to_nat z).
Proof.
  intros k cone g q x z m W Q I E. rewrite forallb_forall in W. assert (WG := W g I).
  destruct Q as [N K]. assert (KG := K g I). assert (Q : in_cone k cone q) by (split; assumption).
  destruct g as [e weights | lower upper p | rows | lower upper p]; try discriminate.
  cbn [well_formed] in WG. apply andb_true_iff in WG as [WG WE]. apply andb_true_iff in WG as [LW PW].
  apply Nat.eqb_eq in LW. destruct e as [a block protected | values table].
  - apply andb_true_iff in WE as [WE LP]. apply andb_true_iff in WE as [A LB].
    apply Nat.eqb_eq in LP, LB. cbn [ceiling_at ceiling_of] in E.
    destruct (pick (array_of protected) x) as [[|]|] eqn:P; try discriminate.
    destruct (pick (array_of block) x) as [b|] eqn:B; [|discriminate].
    destruct (pick (array_of block) z) as [c|] eqn:C; [|discriminate].
    destruct (N.eqb_spec b c) as [<-|]; [|discriminate].
    destruct (N.eqb_spec x z) as [|NE]; [discriminate|]. simpl andb in E. cbv iota in E.
    apply pick_nth with (d := false) in P as [P LX]. apply pick_nth with (d := 0%N) in B as [B _].
    apply pick_nth with (d := 0%N) in C as [C LZ].
    apply (scaled_up_sound k cone q a weights x z m Q A LW PW); [|exact E].
    apply KG; [lia | lia |]. unfold at_pair. rewrite P, B, C, N.eqb_refl.
    replace (Nat.eqb (N.to_nat x) (N.to_nat z)) with false; [reflexivity|].
    symmetry. apply Nat.eqb_neq. intro F. apply NE. lia.
  - apply andb_true_iff in WE as [WE LR]. apply andb_true_iff in WE as [V LT].
    apply Nat.eqb_eq in LT. cbn [ceiling_at ceiling_of] in E. rewrite forallb_forall in V, LR.
    destruct (pick (array_of (map array_of table)) x) as [r|] eqn:R0; [|discriminate].
    apply pick_nth with (d := array_of []) in R0 as [R0 LX]. rewrite map_nth in R0. subst r.
    rewrite map_length in LX.
    destruct (pick (array_of (nth (N.to_nat x) table [])) z) as [[|n]|] eqn:T; try discriminate.
    apply pick_nth with (d := 0%N) in T as [T LZ].
    assert (L : length (nth (N.to_nat x) table []) = k) by (apply Nat.eqb_eq, LR, nth_In, LX).
    destruct (pick _ (Pos.pred_N n)) as [up|] eqn:S; [|discriminate].
    destruct (N.eqb_spec x z) as [|NE]; [discriminate|].
    rewrite pick_array_of, nth_error_map in S.
    destruct (nth_error values (N.to_nat (Pos.pred_N n))) as [a|] eqn:A; [|discriminate].
    injection S as <-. pose proof (nth_error_In _ _ A) as IA.
    apply (scaled_up_sound k cone q a weights x z m Q (V a IA) LW PW); [|exact E].
    apply KG; [lia | lia |]. unfold at_pair. rewrite T.
    replace (Nat.eqb (N.to_nat x) (N.to_nat z)) with false.
    + simpl. rewrite A. reflexivity.
    + symmetry. apply Nat.eqb_neq. intro F. apply NE. lia.
Qed.

Lemma ratio_above_sound : forall k cone q x z m,
  forallb (well_formed k) cone = true -> in_cone k cone q ->
  ratio_above (map ceiling_of cone) x z = Some m ->
  two GRID * q (N.to_nat x) <= IZR m * q (N.to_nat z).
Proof.
  intros k cone q x z m W Q.
  enough (H : forall l m, (forall g, In g l -> In g cone) -> ratio_above (map ceiling_of l) x z = Some m ->
    two GRID * q (N.to_nat x) <= IZR m * q (N.to_nat z)) by (apply (H cone); auto).
  induction l as [|g l]; intros v I E; [discriminate|]. simpl in E.
  destruct (ceiling_at (ceiling_of g) x z) as [a|] eqn:A.
  - apply ceiling_at_sound with (k := k) (cone := cone) (q := q) in A; auto.
    2: { apply I. left. reflexivity. }
    destruct (ratio_above (map ceiling_of l) x z) as [b|] eqn:B; injection E as <-; [|exact A].
    specialize (IHl b (fun g H => I g (or_intror H)) eq_refl).
    destruct (Z.min_spec a b) as [[_ ->] | [_ ->]]; assumption.
  - apply IHl; auto. intros; apply I; right; assumption.
Qed.

(* Sums over a list of inputs. *)
Definition sum_over (l : list N) (f : nat -> R) : R :=
  fold_right (fun x t => f (N.to_nat x) + t) 0 l.

Lemma sum_over_counts : forall k l f, (forall x, In x l -> (N.to_nat x < k)%nat) ->
  sum_over l f = product k (counts l) f.
Proof.
  induction l as [|x l]; intros f H; [symmetry; apply product_empty|].
  simpl. rewrite product_put by (apply H; left; reflexivity). rewrite IHl; [lra|].
  intros; apply H; right; assumption.
Qed.

Lemma nth_collect : forall k i m x, (x < k)%nat -> nth x (collect k i m) 0%Z = get m (i + N.of_nat x).
Proof.
  induction k; intros i m x X; [lia|]. destruct x; simpl.
  - rewrite N.add_0_r. reflexivity.
  - rewrite IHk by lia. f_equal. lia.
Qed.

Lemma is_order_inputs : forall k l x, is_order k l = true -> In x l -> (N.to_nat x < k)%nat.
Proof.
  intros k l x H I. apply andb_true_iff in H as [H _]. rewrite forallb_forall in H.
  specialize (H x I). apply N.ltb_lt in H. lia.
Qed.

Lemma is_order_sum : forall k l f, is_order k l = true -> sum_over l f = sum k f.
Proof.
  intros k l f H. rewrite (sum_over_counts k) by (intros; apply is_order_inputs with l; auto).
  unfold is_order in H. apply andb_true_iff in H as [_ H]. rewrite forallb_forall in H.
  unfold product. apply sum_ext. intros i I.
  assert (J : In (nth i (collect k 0 (counts l)) 0%Z) (collect k 0 (counts l))).
  { apply nth_In. rewrite collect_length. exact I. }
  apply H, Z.eqb_eq in J. rewrite nth_collect in J by exact I. rewrite N.add_0_l in J.
  rewrite <- J. lra.
Qed.

Lemma sum_over_app : forall a b f, sum_over (a ++ b) f = sum_over a f + sum_over b f.
Proof. induction a; intros; simpl; [lra | rewrite IHa; lra]. Qed.

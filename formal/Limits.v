(* Limits on the channel as a whole: Sum_y max_j A_j . q_y <= e^a L, A_j = e^-a_j left - right. Maximal
   leakage, g-vulnerability and both approximate notions are such. A limit with multipliers of
   largest sum m costs m e^a L, and what a node lacks of m goes to A_0. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive.
Require Import Definitions Exponential Sums Arrays Privacy PrivacySound Cone.
Import ListNotations.
Open Scope Z_scope.

(* ---- privacy ---------------------------------------------------------------------------------- *)

(* A_j . q, rounded up, over 2^FINE_BITS. *)
Definition FINE_BITS : Z := 256.

(* e^-a over 2^BITS, rounded up *)
Definition minus_upper (a : exponent) : option Z := exp_ceil BITS (- size_floor a) (size_unit a).

Definition part_ceil (e : Z) (row : listed_row) (q : list Z) : Z :=
  let '(a, b) := side_num (left row) q in
  let '(c, d) := side_num (right row) q in
  Z.shiftl (e * a * d - Z.shiftl (c * b) BITS) (FINE_BITS - BITS) / (b * d) + 1.

Fixpoint most_part (rows : list (Z * listed_row)) (q : list Z) : Z :=
  match rows with
  | [] => 0
  | [row] => part_ceil (fst row) (snd row) q
  | row :: rest => Z.max (part_ceil (fst row) (snd row) q) (most_part rest q)
  end.

Fixpoint with_exponents (rows : list listed_row) : option (list (Z * listed_row)) :=
  match rows with
  | [] => Some []
  | row :: rest =>
      match minus_upper (exponent_of row), with_exponents rest with
      | Some e, Some found => Some ((e, row) :: found)
      | _, _ => None
      end
  end.

Definition limit_ok (k : nat) (g : gauge) : bool :=
  well_formed k (Rows (parts g)) && exponent_ok (growth g) && (0 <=? num (limit g)).

Definition check_limit (k : nat) (columns : list (list Z)) (whole : positive) (g : gauge) : bool :=
  limit_ok k g &&
  match with_exponents (parts g) with
  | Some rows =>
      let total := fold_right (fun q t => most_part rows q + t) 0 columns in
      total * Zpos (den (limit g)) * 2 ^ BITS <=?
        exp_lower BITS (growth g) * num (limit g) * Zpos whole * 2 ^ FINE_BITS
  | None => false
  end.

(* ---- bounds ----------------------------------------------------------------------------------- *)

(* Multipliers of the parts of one limit at one node, as (part, weight over UNIT). *)
Definition weights_ok (ws : list (N * Z)) : bool := forallb (fun p => 0 <=? snd p) ws.

Definition mass_of (ws : list (N * Z)) : Z := fold_right (fun p t => snd p + t) 0 ws.

Fixpoint add_parts (nets : array (list (N * Z))) (ws : list (N * Z)) (sum : array Z)
    : option (array Z) :=
  match ws with
  | [] => Some sum
  | (j, w) :: rest =>
      match pick nets j with
      | Some row => add_parts nets rest (add_net w sum row)
      | None => None
      end
  end.

(* The cost of a node, with multipliers of sum most: what the node lacks of it goes to part 0. *)
Definition with_limit (k : nat) (nets : array (list (N * Z))) (most : Z) (ws : list (N * Z))
    (cost : list Z) : option (list Z) :=
  let rest := most - mass_of ws in
  if weights_ok ws && (0 <=? rest) then
    match add_parts nets ((0%N, rest) :: ws) (PositiveMap.empty Z) with
    | Some sum => Some (add (collect k 0 sum) cost)
    | None => None
    end
  else None.

(* m e^a L, over UNIT, rounded up *)
Definition paid (most : Z) (g : gauge) : option Z :=
  match exp_upper BITS (growth g) with
  | Some e => Some (- (- (most * e * num (limit g)) / (Zpos (den (limit g)) * 2 ^ BITS)))
  | None => None
  end.

Fixpoint limit_nodes (k : nat) (nets : array (list (N * Z))) (most : Z) (lm : list (list (N * Z)))
    (nodes : list (list Z)) : option (list (list Z)) :=
  match nodes with
  | [] => Some []
  | cost :: rest =>
      match with_limit k nets most (hd [] lm) cost, limit_nodes k nets most (tl lm) rest with
      | Some cost', Some rest' => Some (cost' :: rest')
      | _, _ => None
      end
  end.

Definition largest_mass (lm : list (list (N * Z))) : Z :=
  fold_right (fun ws t => Z.max (mass_of ws) t) 0 lm.

(* The nodes after the multipliers of all limits, of each limit by node; and what these cost. *)
Fixpoint limited (k : nat) (limits : list gauge) (lms : list (list (list (N * Z))))
    (nodes : list (list Z)) : option (list (list Z) * Z) :=
  match limits, lms with
  | g :: limits', lm :: lms' =>
      match lm with
      | [] => limited k limits' lms' nodes
      | _ =>
          match limit_nodes k (array_of (map listed_net (parts g))) (largest_mass lm) lm nodes,
                paid (largest_mass lm) g with
          | Some nodes', Some p =>
              match limited k limits' lms' nodes' with
              | Some (found, t) => Some (found, p + t)
              | None => None
              end
          | _, _ => None
          end
      end
  | _, _ => Some (nodes, 0)
  end.

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

Lemma part_net : forall k q row, (forall x, (x < k)%nat -> 0 <= q x) ->
  well_formed k (Rows [row]) = true ->
  net_value (listed_net row) (extended k [] q) <= IZR UNIT * part_value row q /\
  forall p, In p (listed_net row) -> (N.to_nat (fst p) < k)%nat.
Proof.
  intros k q row N W. cbn [well_formed forallb] in W. rewrite andb_true_r in W.
  apply andb_true_iff in W as [W I]. apply andb_true_iff in W as [W _].
  apply andb_true_iff in W as [A O]. rewrite forallb_forall in I.
  assert (IL : forall p, In p (left row) -> (N.to_nat (fst p) < k)%nat).
  { intros p H. assert (G := I p (in_or_app _ _ _ (or_introl H))). apply N.ltb_lt in G. lia. }
  assert (IR : forall p, In p (right row) -> (N.to_nat (fst p) < k)%nat).
  { intros p H. assert (G := I p (in_or_app _ _ _ (or_intror H))). apply N.ltb_lt in G. lia. }
  split.
  - unfold listed_net. rewrite net_value_app.
    pose proof (net_value_map (exp_minus_lower UNIT_BITS (exponent_of row)) (left row) q k [] IL N) as L.
    pose proof (net_value_map (- UNIT) (right row) q k [] IR N) as R0.
    pose proof (shrink_le (exponent_of row) (sparse (left row) q) A (sparse_nonneg _ _ k O IL N)) as S.
    rewrite opp_IZR in R0. unfold part_value. lra.
  - intros p H. unfold listed_net in H. apply in_app_or in H as [H | H];
      apply in_map_iff in H as (r & <- & H); simpl; [apply IL in H | apply IR in H]; lia.
Qed.

Lemma part_le_largest : forall rows q row, In row rows -> part_value row q <= largest_part rows q.
Proof.
  induction rows as [|r rows]; intros q row I; [destruct I|]. destruct rows as [|r' rows].
  - destruct I as [<- | []]. simpl. lra.
  - change (part_value row q <= Rmax (part_value r q) (largest_part (r' :: rows) q)).
    destruct I as [<- | I]; [apply Rmax_l|].
    apply Rle_trans with (2 := Rmax_r _ _). apply IHrows, I.
Qed.

Lemma add_parts_sound : forall k q rows ws sum0 sum1, (forall x, (x < k)%nat -> 0 <= q x) ->
  well_formed k (Rows rows) = true -> weights_ok ws = true ->
  add_parts (array_of (map listed_net rows)) ws sum0 = Some sum1 ->
  product k sum1 (extended k [] q) <=
    product k sum0 (extended k [] q) + IZR (mass_of ws) * largest_part rows q.
Proof.
  intros k q rows. induction ws as [|[j w] ws]; intros sum0 sum1 N W P E; simpl in E.
  - injection E as <-. simpl. lra.
  - destruct (pick _ j) as [net0|] eqn:J; [|discriminate]. cbn [weights_ok forallb snd] in P.
    apply andb_true_iff in P as [P P']. apply Z.leb_le in P.
    rewrite pick_array_of, nth_error_map in J.
    destruct (nth_error rows (N.to_nat j)) as [row|] eqn:R0; [|discriminate]. injection J as <-.
    apply nth_error_In in R0.
    assert (WR : well_formed k (Rows [row]) = true).
    { cbn [well_formed] in W |- *. rewrite forallb_forall in W. simpl. rewrite (W row R0). reflexivity. }
    destruct (part_net k q row N WR) as [V I].
    apply Rle_trans with (1 := IHws _ _ N W P' E).
    assert (EN : forall i, 0 <= extended k [] q i).
    { intro i. unfold extended. destruct (Nat.ltb_spec i k) as [L | L]; [apply N, L|].
      destruct (i - k)%nat; simpl; lra. }
    pose proof (add_net_product w k (extended k [] q) (listed_net row) sum0 P EN I) as A.
    pose proof (part_le_largest rows q row R0) as B. pose proof unit_pos as UP.
    apply IZR_le in P. simpl mass_of. cbn [snd]. fold (mass_of ws). rewrite plus_IZR.
    assert (G : IZR w / IZR UNIT * net_value (listed_net row) (extended k [] q) <=
      IZR w * largest_part rows q).
    { apply Rle_trans with (IZR w / IZR UNIT * (IZR UNIT * part_value row q)).
      - apply Rmult_le_compat_l; [|exact V]. unfold Rdiv.
        apply Rmult_le_pos; [exact P | left; apply Rinv_0_lt_compat, UP].
      - replace (IZR w / IZR UNIT * (IZR UNIT * part_value row q)) with (IZR w * part_value row q)
          by (field; lra). apply Rmult_le_compat_l; assumption. }
    lra.
Qed.

(* The cost with the limit is above the cost by at most m times the largest part. *)
Lemma with_limit_sound : forall k rows most ws cost cost' q,
  well_formed k (Rows rows) = true -> length cost = k -> (forall x, (x < k)%nat -> 0 <= q x) ->
  with_limit k (array_of (map listed_net rows)) most ws cost = Some cost' ->
  length cost' = k /\ dot cost' q <= dot cost q + IZR most * largest_part rows q.
Proof.
  intros k rows most ws cost cost' q W L N E. unfold with_limit in E.
  destruct (weights_ok ws && (0 <=? most - mass_of ws)%Z) eqn:C; [|discriminate].
  apply andb_true_iff in C as [P R0].
  destruct (add_parts _ _ _) as [sum1|] eqn:A; [|discriminate]. injection E as <-.
  split; [rewrite add_length; rewrite collect_length; auto|].
  apply add_parts_sound with (k := k) (q := q) in A; [|exact N | exact W |].
  - rewrite product_empty in A. rewrite add_dot by (rewrite collect_length; auto). rewrite collect_dot.
    cbn [mass_of fold_right snd] in A. fold (mass_of ws) in A.
    replace (most - mass_of ws + mass_of ws)%Z with most in A by lia.
    unfold product in A.
    rewrite (sum_ext k _ (fun i => IZR (get sum1 (N.of_nat i)) * extended k [] q i)).
    + lra.
    + intros i I. rewrite extended_input, N.add_0_l by exact I. reflexivity.
  - cbn [weights_ok forallb snd]. rewrite R0. exact P.
Qed.

Lemma paid_sound : forall k most g v, limit_ok k g = true -> (0 <= most)%Z -> paid most g = Some v ->
  IZR most * (exp (size (growth g)) * real (limit g)) <= IZR v.
Proof.
  intros k most g v OK M E. unfold limit_ok in OK. apply andb_true_iff in OK as [OK L].
  apply andb_true_iff in OK as [_ A]. apply Z.leb_le, IZR_le in L. apply IZR_le in M.
  unfold paid in E. destruct (exp_upper BITS (growth g)) as [e|] eqn:U; [|discriminate].
  apply (f_equal (fun t => match t with Some x => x | None => 0%Z end)) in E. cbv beta iota in E. subst v.
  pose proof (exp_upper_sound BITS _ e BITS_ok A U) as S.
  set (o := (Zpos (den (limit g)) * 2 ^ BITS)%Z). assert (OP : (0 < o)%Z) by reflexivity.
  pose proof (div_le (- (most * e * num (limit g))) o OP) as D. rewrite opp_IZR in D.
  rewrite opp_IZR. pose proof (two_pos BITS BITS_ok) as B.
  assert (DP : 0 < IZR (Zpos (den (limit g)))) by (apply IZR_lt; reflexivity).
  assert (OE : IZR o = IZR (Zpos (den (limit g))) * two BITS) by (unfold o; rewrite mult_IZR; reflexivity).
  rewrite !mult_IZR in D.
  assert (G : IZR most * (exp (size (growth g)) * real (limit g)) <=
    IZR most * IZR e * IZR (num (limit g)) / IZR o).
  { rewrite OE. unfold real. apply Rmult_le_reg_r with (IZR (Zpos (den (limit g))) * two BITS);
      [apply Rmult_lt_0_compat; lra|].
    replace (IZR most * (exp (size (growth g)) * (IZR (num (limit g)) / IZR (Zpos (den (limit g))))) *
      (IZR (Zpos (den (limit g))) * two BITS)) with
      (IZR most * IZR (num (limit g)) * (two BITS * exp (size (growth g)))) by (field; lra).
    replace (IZR most * IZR e * IZR (num (limit g)) / (IZR (Zpos (den (limit g))) * two BITS) *
      (IZR (Zpos (den (limit g))) * two BITS)) with (IZR most * IZR (num (limit g)) * IZR e)
      by (field; lra).
    apply Rmult_le_compat_l; [apply Rmult_le_pos; assumption | exact S]. }
  unfold Rdiv in *. lra.
Qed.

(* m times the largest part, of all limits that have multipliers *)
Fixpoint penalty (limits : list gauge) (lms : list (list (list (N * Z)))) (q : nat -> R) : R :=
  match limits, lms with
  | g :: limits', lm :: lms' =>
      match lm with
      | [] => 0
      | _ => IZR (largest_mass lm) * largest_part (parts g) q
      end + penalty limits' lms' q
  | _, _ => 0
  end.

Lemma largest_mass_nonneg : forall lm, (0 <= largest_mass lm)%Z.
Proof. induction lm; simpl; lia. Qed.

Lemma limit_nodes_sound : forall k rows most q, well_formed k (Rows rows) = true ->
  (forall x, (x < k)%nat -> 0 <= q x) -> forall nodes lm nodes',
  (forall c, In c nodes -> length c = k) ->
  limit_nodes k (array_of (map listed_net rows)) most lm nodes = Some nodes' ->
  Forall2 (fun c' c => length c' = k /\ dot c' q <= dot c q + IZR most * largest_part rows q)
    nodes' nodes.
Proof.
  intros k rows most q W N. induction nodes as [|cost nodes]; intros lm nodes' L E; simpl in E.
  - injection E as <-. constructor.
  - destruct (with_limit _ _ _ _ _) as [cost'|] eqn:C; [|discriminate].
    destruct (limit_nodes _ _ _ _ nodes) as [rest|] eqn:R0; [|discriminate]. injection E as <-.
    constructor.
    + apply with_limit_sound with (2 := L cost (or_introl eq_refl)) (3 := N) in C; assumption.
    + apply IHnodes with (tl lm); [intros; apply L; right; assumption | exact R0].
Qed.

Lemma limited_sound : forall k q, (forall x, (x < k)%nat -> 0 <= q x) ->
  forall limits lms nodes nodes' p,
  forallb (limit_ok k) limits = true -> (forall c, In c nodes -> length c = k) ->
  limited k limits lms nodes = Some (nodes', p) ->
  Forall2 (fun c' c => length c' = k /\ dot c' q <= dot c q + penalty limits lms q) nodes' nodes.
Proof.
  intros k q N. assert (SAME : forall nodes, (forall c, In c nodes -> length c = k) ->
    Forall2 (fun c' c => length c' = k /\ dot c' q <= dot c q + 0) nodes nodes).
  { induction nodes; intros L; constructor; [split; [apply L; left; reflexivity | lra]|].
    apply IHnodes. intros; apply L; right; assumption. }
  induction limits as [|g limits]; intros lms nodes nodes' p OK L E.
  - simpl in E. injection E as <- <-. simpl. apply SAME, L.
  - destruct lms as [|lm lms]; [simpl in E; injection E as <- <-; simpl; apply SAME, L|].
    cbn [forallb] in OK. apply andb_true_iff in OK as [OG OK]. cbn [limited] in E. cbn [penalty].
    destruct lm as [|ws lm].
    + rewrite Rplus_0_l. apply IHlimits with p; assumption.
    + set (m := largest_mass (ws :: lm)) in *.
      destruct (limit_nodes k _ m (ws :: lm) nodes) as [mid|] eqn:M; [|discriminate].
      destruct (paid m g) as [t|]; [|discriminate].
      destruct (limited k limits lms mid) as [[found t']|] eqn:F; [|discriminate].
      apply (f_equal (fun o => match o with Some (x, _) => x | None => [] end)) in E.
      cbv beta iota in E. subst found.
      assert (WG : well_formed k (Rows (parts g)) = true).
      { unfold limit_ok in OG. apply andb_true_iff in OG as [OG _]. apply andb_true_iff in OG. apply OG. }
      apply limit_nodes_sound with (q := q) in M; [|exact WG | exact N | exact L].
      assert (LM : forall c, In c mid -> length c = k).
      { clear - M. induction M; intros c I; [destruct I|]. destruct I as [<- | I]; [apply H | auto]. }
      specialize (IHlimits lms mid nodes' t' OK LM F).
      clear - M IHlimits. revert nodes M. induction IHlimits; intros nodes M.
      * inversion M. constructor.
      * inversion M as [|? c ? nodes2 [LC HC] M2]; subst. constructor; [|apply IHIHlimits, M2].
        destruct H as [LX HX]. split; [exact LX|]. lra.
Qed.

Lemma penalty_paid : forall k n C limits lms nodes nodes' p, is_limited n limits C ->
  forallb (limit_ok k) limits = true -> limited k limits lms nodes = Some (nodes', p) ->
  sum n (fun y => penalty limits lms (fun x => C x y)) <= IZR p.
Proof.
  intros k n C. induction limits as [|g limits]; intros lms nodes nodes' p H OK E.
  - simpl in E. injection E as <- <-. simpl. rewrite sum_zero. lra.
  - destruct lms as [|lm lms]; [simpl in E; injection E as <- <-; simpl; rewrite sum_zero; lra|].
    cbn [forallb] in OK. apply andb_true_iff in OK as [OG OK]. cbn [limited] in E. cbn [penalty].
    assert (H' : is_limited n limits C) by (intros h I; apply H; right; exact I).
    destruct lm as [|ws lm].
    + rewrite (sum_ext n _ (fun y => penalty limits lms (fun x => C x y))) by (intros; lra).
      apply IHlimits with nodes nodes'; assumption.
    + set (m := largest_mass (ws :: lm)) in *.
      destruct (limit_nodes k _ m (ws :: lm) nodes) as [mid|] eqn:M; [|discriminate].
      destruct (paid m g) as [t|] eqn:T; [|discriminate].
      destruct (limited k limits lms mid) as [[found t']|] eqn:F; [|discriminate].
      apply (f_equal (fun o => match o with Some (_, x) => x | None => 0%Z end)) in E.
      cbv beta iota in E. subst p.
      rewrite sum_plus, sum_scale, plus_IZR.
      assert (MN : (0 <= m)%Z) by apply largest_mass_nonneg.
      pose proof (paid_sound k m g t OG MN T) as P.
      specialize (H g (or_introl eq_refl)). apply IZR_le in MN.
      apply Rmult_le_compat_l with (r := IZR m) in H; [|exact MN].
      specialize (IHlimits lms mid found t' H' OK F). lra.
Qed.

(* ---- privacy ---------------------------------------------------------------------------------- *)

Lemma part_ceil_sound : forall k row q whole e, well_formed k (Rows [row]) = true -> nonneg q ->
  0 < whole -> minus_upper (exponent_of row) = Some e ->
  part_value row (fun x => IZR (nth x q 0%Z) / whole) <=
  IZR (part_ceil e row q) / (two FINE_BITS * whole).
Proof.
  intros k row q whole e W N WP E. cbn [well_formed forallb] in W. rewrite andb_true_r in W.
  apply andb_true_iff in W as [W _]. apply andb_true_iff in W as [W _].
  apply andb_true_iff in W as [A O]. unfold part_ceil, part_value.
  destruct (side_num (left row) q) as [a b] eqn:L. destruct (side_num (right row) q) as [c d] eqn:R0.
  pose proof (side_num_nonneg _ _ _ _ O N L) as AP.
  apply side_num_sound with (whole := whole) in L as [B ->]; [|exact WP].
  apply side_num_sound with (whole := whole) in R0 as [D ->]; [|exact WP].
  unfold minus_upper in E. apply exp_ceil_sound in E; [|exact BITS_ok | apply size_unit_pos].
  assert (S : two BITS * exp (- size (exponent_of row)) <= IZR e).
  { apply Rle_trans with (2 := E). apply Rmult_le_compat_l; [left; apply two_pos, BITS_ok|].
    apply exp_increasing_le. rewrite opp_IZR. pose proof (size_sound _ A) as [SL _].
    unfold Rdiv in *. lra. }
  set (g := exp (- size (exponent_of row))) in *.
  assert (F : (0 <= FINE_BITS - BITS)%Z) by (vm_compute; discriminate).
  assert (BD : (0 < b * d)%Z) by (apply Z.mul_pos_pos; assumption).
  pose proof (div_ge (Z.shiftl (e * a * d - Z.shiftl (c * b) BITS) (FINE_BITS - BITS)) _ BD) as G.
  rewrite shiftl_two in G by exact F. rewrite minus_IZR, shiftl_two in G by exact BITS_ok.
  rewrite !mult_IZR in G. pose proof (two_pos BITS BITS_ok) as TB. pose proof (two_pos _ F) as TF.
  assert (T : two FINE_BITS = two BITS * two (FINE_BITS - BITS)).
  { rewrite <- two_add; [reflexivity | exact BITS_ok | exact F]. }
  apply IZR_lt in B. apply IZR_lt in D. apply IZR_le in AP.
  set (v := IZR (_ / (b * d) + 1)) in *. rewrite T.
  apply Rmult_le_reg_r with (two BITS * two (FINE_BITS - BITS) * whole);
    [apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; assumption|].
  replace (v / (two BITS * two (FINE_BITS - BITS) * whole) * (two BITS * two (FINE_BITS - BITS) * whole))
    with v by (field; repeat split; lra).
  apply Rle_trans with (2 := G).
  replace ((g * (IZR a / IZR b / whole) - IZR c / IZR d / whole) * (two BITS * two (FINE_BITS - BITS) * whole))
    with (two (FINE_BITS - BITS) * (IZR a / IZR b * (two BITS * g) - two BITS * (IZR c / IZR d)))
    by (field; repeat split; lra).
  replace ((IZR e * IZR a * IZR d - IZR c * IZR b * two BITS) * two (FINE_BITS - BITS) / (IZR b * IZR d))
    with (two (FINE_BITS - BITS) * (IZR a / IZR b * IZR e - two BITS * (IZR c / IZR d)))
    by (field; repeat split; lra).
  apply Rmult_le_compat_l; [lra|]. apply Rplus_le_compat_r. apply Rmult_le_compat_l; [|exact S].
  unfold Rdiv. apply Rmult_le_pos; [exact AP | left; apply Rinv_0_lt_compat, B].
Qed.

Lemma most_part_sound : forall k q whole, nonneg q -> 0 < whole -> forall rows found,
  well_formed k (Rows rows) = true -> with_exponents rows = Some found ->
  largest_part rows (fun x => IZR (nth x q 0%Z) / whole) <=
  IZR (most_part found q) / (two FINE_BITS * whole).
Proof.
  intros k q whole N W. induction rows as [|row rows]; intros found WF E; simpl in E.
  - injection E as <-. simpl. unfold Rdiv. lra.
  - destruct (minus_upper (exponent_of row)) as [e|] eqn:M; [|discriminate].
    destruct (with_exponents rows) as [rest|] eqn:R0; [|discriminate]. injection E as <-.
    assert (W1 : well_formed k (Rows [row]) = true /\ well_formed k (Rows rows) = true).
    { cbn [well_formed forallb] in *. apply andb_true_iff in WF as [A B]. rewrite A. auto. }
    destruct W1 as [W1 W2]. pose proof (part_ceil_sound k row q whole e W1 N W M) as P.
    specialize (IHrows rest W2 eq_refl).
    destruct rows as [|row2 rows].
    + simpl in R0. injection R0 as <-. exact P.
    + destruct rest as [|r2 rest].
      { simpl in R0. destruct (minus_upper _), (with_exponents rows); discriminate. }
      change (most_part ((e, row) :: r2 :: rest) q) with
        (Z.max (part_ceil e row q) (most_part (r2 :: rest) q)).
      change (Rmax (part_value row (fun x => IZR (nth x q 0%Z) / whole))
        (largest_part (row2 :: rows) (fun x => IZR (nth x q 0%Z) / whole)) <=
        IZR (Z.max (part_ceil e row q) (most_part (r2 :: rest) q)) / (two FINE_BITS * whole)).
      assert (T : 0 < two FINE_BITS * whole)
        by (apply Rmult_lt_0_compat; [apply two_pos; vm_compute; discriminate | exact W]).
      apply Rmax_lub.
      * apply Rle_trans with (1 := P). apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, T|].
        apply IZR_le. lia.
      * apply Rle_trans with (1 := IHrows). apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, T|].
        apply IZR_le. lia.
Qed.

Theorem check_limit_sound : forall k columns whole g, (forall q, In q columns -> nonneg q) ->
  check_limit k columns whole g = true ->
  sum (length columns) (fun y => largest_part (parts g) (fun x => table columns whole x y))
    <= exp (size (growth g)) * real (limit g).
Proof.
  intros k columns whole g N H. unfold check_limit in H. apply andb_true_iff in H as [OK H].
  unfold limit_ok in OK. apply andb_true_iff in OK as [OK L]. apply andb_true_iff in OK as [W A].
  destruct (with_exponents (parts g)) as [rows|] eqn:R0; [|discriminate].
  set (total := fold_right _ 0%Z columns) in H. apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H.
  apply Z.leb_le, IZR_le in L.
  assert (WP : 0 < IZR (Zpos whole)) by (apply IZR_lt; reflexivity).
  assert (FP : 0 < two FINE_BITS) by (apply two_pos; vm_compute; discriminate).
  pose proof (two_pos BITS BITS_ok) as BP.
  assert (DP : 0 < IZR (Zpos (den (limit g)))) by (apply IZR_lt; reflexivity).
  change (IZR (2 ^ BITS)) with (two BITS) in H. change (IZR (2 ^ FINE_BITS)) with (two FINE_BITS) in H.
  apply Rle_trans with (IZR total / (two FINE_BITS * IZR (Zpos whole))).
  - unfold total. clear - N W R0 WP FP. induction columns as [|q columns].
    + simpl. unfold Rdiv. lra.
    + cbn [length]. rewrite sum_first. simpl. rewrite plus_IZR.
      specialize (IHcolumns (fun r I => N r (or_intror I))).
      pose proof (most_part_sound k q (IZR (Zpos whole)) (N q (or_introl eq_refl)) WP (parts g) rows W R0) as P.
      unfold table at 1. cbn [nth].
      unfold Rdiv in *. rewrite Rmult_plus_distr_r. apply Rplus_le_compat; [exact P | exact IHcolumns].
  - pose proof (exp_lower_sound BITS (growth g) BITS_ok A) as S.
    apply Rmult_le_reg_r with (two FINE_BITS * IZR (Zpos whole) * IZR (Zpos (den (limit g))) * two BITS);
      [apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]|]; assumption|].
    replace (IZR total / (two FINE_BITS * IZR (Zpos whole)) *
      (two FINE_BITS * IZR (Zpos whole) * IZR (Zpos (den (limit g))) * two BITS))
      with (IZR total * IZR (Zpos (den (limit g))) * two BITS) by (field; repeat split; lra).
    apply Rle_trans with (1 := H). unfold real.
    replace (exp (size (growth g)) * (IZR (num (limit g)) / IZR (Zpos (den (limit g)))) *
      (two FINE_BITS * IZR (Zpos whole) * IZR (Zpos (den (limit g))) * two BITS)) with
      (two BITS * exp (size (growth g)) * (IZR (num (limit g)) * IZR (Zpos whole) * two FINE_BITS))
      by (field; lra).
    rewrite !Rmult_assoc. rewrite <- (Rmult_assoc (two BITS)).
    apply Rmult_le_compat_r; [|exact S].
    apply Rmult_le_pos; [exact L|]. apply Rmult_le_pos; lra.
Qed.

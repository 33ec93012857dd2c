(* check_bound: does a certificate prove that no private channel has an objective below b?
   check_bound_sound: if it passes, that is so of all real channels. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive.
Require Import Definitions Exponential Sums Arrays Privacy Cone Spanned Rays Oracles Relaxations Decoders Limits Line OneBudget Knapsack Ceilings.
Import ListNotations.
Open Scope Z_scope.

Inductive linearization :=
  (* a mean loss: a node for each answer *)
  | Costs
  (* a square: a node for each of some numbers that rise *)
  | DecoderNodes (nodes : list fraction)
  (* squares, as they are: a convex gain, for the oracle of rays *)
  | AsGain.

Record certificate := {
  relaxations : list relaxation;
  line : linearization;
  multipliers : list (list multiplier);  (* of each node *)
  prices : list Z;                       (* over UNIT *)
  (* of the parts of each limit, by node; an empty list where there are none *)
  of_limits : list (list (list (N * Z)));
  oracle_of : oracle }.

(* The cost w_x D_y[x] of a node, over UNIT, rounded down. *)
Definition node_of (w : vector) (unit : positive) (column : list Z) : list Z :=
  map (fun p => Z.shiftl (fst p * snd p) UNIT_BITS / Zpos (over w * unit))
    (combine (entries w) column).

(* Prices that are safe for each node. *)
Fixpoint priced (k : nat) (cone : list generator) (sources : array source) (r : ready)
    (u : list Z) (ms : list (list multiplier)) (nodes : list (list Z)) : option (list (list Z)) :=
  match nodes with
  | [] => Some []
  | cost :: rest =>
      match multiplied k cone sources (hd [] ms) cost with
      | Some cost' =>
          match price k r cost' u, priced k cone sources r u (tl ms) rest with
          | Some safe, Some found => Some (safe :: found)
          | _, _ => None
          end
      | None => None
      end
  end.

Definition least (a b : list Z) : list Z := map (fun p => Z.min (fst p) (snd p)) (combine a b).

(* Safe for every node: entry by entry the least. *)
Fixpoint minimum (first : list Z) (found : list (list Z)) : list Z :=
  match found with
  | [] => first
  | u :: rest => minimum (least first u) rest
  end.

Definition joined (found : list (list Z)) : option (list Z) :=
  match found with
  | [] => None
  | u :: rest => Some (minimum u rest)
  end.

(* b <= c + sum u / UNIT *)
Definition reaches (c : fraction) (u : list Z) (b : fraction) : bool :=
  (num b * Zpos (den c) - num c * Zpos (den b)) * UNIT <=? total u * (Zpos (den b) * Zpos (den c)).

Definition less_paid (p : Z) : fraction := {| num := - p; den := Z.to_pos UNIT |}.

Definition check_nodes (k : nat) (cone : list generator) (c : certificate) (nodes : list (list Z))
    : option (list (list Z)) :=
  match ready_of k cone (oracle_of c) with
  | Some r => priced k cone (array_of (map source_of cone)) r (prices c) (multipliers c) nodes
  | None => None
  end.

Definition check_linear (s : statement) (c : certificate) (b : fraction) : bool :=
  let k := inputs s in
  forallb (well_formed k) (cone s) && Nat.eqb (length (prices c)) k &&
  match line c, aim s with
  | Costs, Loss low _ unit (Some w) =>
      Nat.eqb (length (entries w)) k && forallb (Z.leb 0) (entries w) &&
      forallb (fun column => Nat.eqb (length column) k) low &&
      forallb (limit_ok k) (limits s) &&
      match limited k (limits s) (of_limits c) (map (node_of w unit) low) with
      | Some (nodes, p) =>
          match check_nodes k (cone s) c nodes with
          | Some found =>
              match joined found with Some u => reaches (less_paid p) u b | None => false end
          | None => false
          end
      | None => false
      end
  | DecoderNodes nodes, Squares constant p [v] unit =>
      Nat.eqb (length p) k && Nat.eqb (length v) k && forallb (Z.leb 0) p && reach nodes p v &&
      match check_nodes k (cone s) c (map (square_node p v unit) nodes) with
      | Some found =>
          match joined (intervals p unit nodes found) with
          | Some u => reaches constant u b
          | None => false
          end
      | None => false
      end
  | AsGain, Squares constant p vs unit =>
      forallb (fun v => Nat.eqb (length v) k) (p :: vs) &&
      match ready_of k (cone s) (oracle_of c) with
      | Some (ReadyRays rays n) =>
          match rays_gain k rays n p vs unit (prices c) with
          | Some u => reaches constant u b
          | None => false
          end
      | _ => false
      end
  | _, _ => false
  end.

Definition check_bound (s : statement) (c : certificate) (b : fraction) : bool :=
  match relax_all (relaxations c) s with
  | Some s' => check_linear s' c b
  | None => false
  end.

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

(* u . q <= cost . q on the cone *)
Definition safe (k : nat) (cone : list generator) (u cost : list Z) : Prop :=
  length u = k /\ forall q, in_cone k cone q -> dot u q <= dot cost q.

Lemma priced_sound : forall k cone o r u nodes ms found,
  forallb (well_formed k) cone = true -> ready_of k cone o = Some r -> length u = k ->
  (forall cost, In cost nodes -> length cost = k) ->
  priced k cone (array_of (map source_of cone)) r u ms nodes = Some found ->
  Forall2 (safe k cone) found nodes.
Proof.
  intros k cone o r u. induction nodes as [|cost nodes]; intros ms found W R0 LU L E; simpl in E.
  - injection E as <-. constructor.
  - destruct (multiplied _ _ _ _ _) as [cost'|] eqn:M; [|discriminate].
    destruct (price k r cost' u) as [safe0|] eqn:PS; [|discriminate].
    destruct (priced _ _ _ _ _ _ nodes) as [rest|] eqn:P; [|discriminate]. injection E as <-.
    constructor.
    + apply multiplied_sound in M as [LM M]; [|exact W | apply L; left; reflexivity].
      destruct (price_sound k cone o r cost' u safe0 W R0 LM LU PS) as [LS S].
      split; [exact LS|]. intros q Q. apply Rle_trans with (1 := S q Q). apply M, Q.
    + apply IHnodes with (5 := P); auto. intros; apply L; right; assumption.
Qed.

Lemma least_length : forall a b, length a = length b -> length (least a b) = length a.
Proof. intros. unfold least. rewrite map_length, combine_length. lia. Qed.

Lemma least_nth : forall a b x, length a = length b ->
  nth x (least a b) 0%Z = Z.min (nth x a 0%Z) (nth x b 0%Z).
Proof.
  induction a; destruct b; intros x L; try discriminate; [destruct x; reflexivity|].
  destruct x; [reflexivity|]. simpl. apply IHa. injection L. auto.
Qed.

Lemma minimum_sound : forall k found first,
  length first = k -> (forall u, In u found -> length u = k) ->
  length (minimum first found) = k /\
  forall u x, In u (first :: found) -> (nth x (minimum first found) 0 <= nth x u 0)%Z.
Proof.
  induction found as [|v found]; intros first L A.
  - split; [exact L|]. intros u x [<- | []]. simpl. lia.
  - assert (LV : length v = k) by (apply A; left; reflexivity).
    assert (LL : length (least first v) = k) by (rewrite least_length; lia).
    destruct (IHfound (least first v) LL (fun u H => A u (or_intror H))) as [LM M].
    split; [exact LM|]. intros u x I. simpl minimum.
    assert (F := M (least first v) x (or_introl eq_refl)). rewrite least_nth in F by lia.
    destruct I as [<- | [<- | I]]; [lia | lia|]. apply M. right. exact I.
Qed.

Lemma dot_le : forall k a b q, length a = k -> length b = k -> (forall x, (x < k)%nat -> 0 <= q x) ->
  (forall x, (nth x a 0 <= nth x b 0)%Z) -> dot a q <= dot b q.
Proof.
  intros k a b q LA LB N H. rewrite !dot_sum, LA, LB. apply sum_le. intros x X.
  apply Rmult_le_compat_r; [apply N, X | apply IZR_le, H].
Qed.

Lemma joined_sound : forall k found u, (forall v, In v found -> length v = k) ->
  joined found = Some u ->
  length u = k /\ forall v q, In v found -> (forall x, (x < k)%nat -> 0 <= q x) -> dot u q <= dot v q.
Proof.
  intros k found u L E. destruct found as [|first found]; [discriminate|]. injection E as <-.
  destruct (minimum_sound k found first (L _ (or_introl eq_refl)) (fun v H => L v (or_intror H)))
    as [LM M].
  split; [exact LM|]. intros v q I N. apply dot_le with k; [exact LM | apply L, I | exact N |].
  intro x. apply M, I.
Qed.

Lemma safe_lengths : forall k cone found nodes, Forall2 (safe k cone) found nodes ->
  forall v, In v found -> length v = k.
Proof. induction 1; intros v I; [destruct I|]. destruct I as [<- | I]; [apply H | auto]. Qed.

Lemma safe_of : forall k cone found nodes cost, Forall2 (safe k cone) found nodes -> In cost nodes ->
  exists v, In v found /\ safe k cone v cost.
Proof.
  induction 1; intros I; [destruct I|]. destruct I as [<- | I].
  - exists x. split; [left; reflexivity | assumption].
  - destruct (IHForall2 I) as (v & J & S). exists v. split; [right; exact J | exact S].
Qed.

Lemma column_in_cone : forall k n cone C y, is_channel k n C -> is_private k n cone C -> (y < n)%nat ->
  in_cone k cone (fun x => C x y).
Proof. intros k n cone C y [N _] P Y. split; [intros x X; apply N; auto | intros g I; apply P; auto]. Qed.

(* The one inequality: columns sum to 1. *)
Lemma prices_sum : forall k n C u, is_channel k n C -> length u = k ->
  sum n (fun y => dot u (fun x => C x y)) = IZR (total u).
Proof.
  intros k n C u [_ S] L. rewrite total_sum, L.
  rewrite (sum_ext n _ (fun y => sum k (fun x => IZR (nth x u 0%Z) * C x y)))
    by (intros; rewrite dot_sum, L; reflexivity).
  rewrite sum_swap. apply sum_ext. intros x X. rewrite sum_scale, S by exact X. lra.
Qed.

Lemma reaches_sound : forall c u b, reaches c u b = true ->
  real b <= real c + IZR (total u) / IZR UNIT.
Proof.
  intros c u b H. unfold reaches in H. apply Z.leb_le, IZR_le in H.
  rewrite !mult_IZR, minus_IZR, !mult_IZR in H.
  pose proof unit_pos as UP. assert (DP : 0 < IZR (Zpos (den b))) by (apply IZR_lt; reflexivity).
  assert (CP : 0 < IZR (Zpos (den c))) by (apply IZR_lt; reflexivity).
  unfold real. apply Rmult_le_reg_r with (IZR (Zpos (den b)) * IZR (Zpos (den c)) * IZR UNIT).
  - repeat apply Rmult_lt_0_compat; lra.
  - replace (IZR (num b) / IZR (Zpos (den b)) * (IZR (Zpos (den b)) * IZR (Zpos (den c)) * IZR UNIT))
      with (IZR (num b) * IZR (Zpos (den c)) * IZR UNIT) by (field; lra).
    replace ((IZR (num c) / IZR (Zpos (den c)) + IZR (total u) / IZR UNIT) *
      (IZR (Zpos (den b)) * IZR (Zpos (den c)) * IZR UNIT))
      with (IZR (num c) * IZR (Zpos (den b)) * IZR UNIT +
        IZR (total u) * (IZR (Zpos (den b)) * IZR (Zpos (den c)))) by (field; lra). lra.
Qed.

Lemma ends_bound : forall k s p v unit q, length p = k -> length v = k ->
  (forall x, (x < k)%nat -> 0 <= q x) ->
  (at_most_all s p v = true -> real s * inner_of k p unit q <= inner_of k v unit q) /\
  (at_least_all s p v = true -> inner_of k v unit q <= real s * inner_of k p unit q).
Proof.
  intros k s p v unit q LP LV N. unfold inner_of.
  assert (SP : 0 < IZR (Zpos (den s))) by (apply IZR_lt; reflexivity).
  assert (UP : 0 < IZR (Zpos unit)) by (apply IZR_lt; reflexivity).
  assert (IN : forall x, (x < k)%nat -> In (nth x p 0%Z, nth x v 0%Z) (combine p v)).
  { intros x X. rewrite <- combine_nth by lia. apply nth_In. rewrite combine_length. lia. }
  split; intro H; rewrite <- sum_scale; apply sum_le; intros x X;
    unfold at_most_all, at_least_all in H; rewrite forallb_forall in H; specialize (H _ (IN x X));
    cbn [fst snd] in H; apply Z.leb_le, IZR_le in H; rewrite !mult_IZR in H; unfold real;
    specialize (N x X);
    apply Rmult_le_compat_r with (r := / IZR (Zpos (den s)) * (/ IZR (Zpos unit) * q x)) in H.
  - replace (IZR (num s) / IZR (Zpos (den s)) * (IZR (nth x p 0%Z) / IZR (Zpos unit) * q x)) with
      (IZR (num s) * IZR (nth x p 0%Z) * (/ IZR (Zpos (den s)) * (/ IZR (Zpos unit) * q x)))
      by (field; lra).
    replace (IZR (nth x v 0%Z) / IZR (Zpos unit) * q x) with
      (IZR (nth x v 0%Z) * IZR (Zpos (den s)) * (/ IZR (Zpos (den s)) * (/ IZR (Zpos unit) * q x)))
      by (field; lra). exact H.
  - repeat apply Rmult_le_pos; try (left; apply Rinv_0_lt_compat; lra); lra.
  - replace (IZR (num s) / IZR (Zpos (den s)) * (IZR (nth x p 0%Z) / IZR (Zpos unit) * q x)) with
      (IZR (num s) * IZR (nth x p 0%Z) * (/ IZR (Zpos (den s)) * (/ IZR (Zpos unit) * q x)))
      by (field; lra).
    replace (IZR (nth x v 0%Z) / IZR (Zpos unit) * q x) with
      (IZR (nth x v 0%Z) * IZR (Zpos (den s)) * (/ IZR (Zpos (den s)) * (/ IZR (Zpos unit) * q x)))
      by (field; lra). exact H.
  - repeat apply Rmult_le_pos; try (left; apply Rinv_0_lt_compat; lra); lra.
Qed.

Lemma node_of_le : forall k w unit column D q, length (entries w) = k -> length column = k ->
  forallb (Z.leb 0) (entries w) = true -> (forall x, (x < k)%nat -> 0 <= q x) ->
  (forall x, (x < k)%nat -> IZR (nth x column 0%Z) / IZR (Zpos unit) <= D x) ->
  dot (node_of w unit column) q <= IZR UNIT * sum k (fun x => entry w x * (D x * q x)).
Proof.
  intros k w unit column D q LW LC P N H. unfold node_of.
  rewrite dot_sum, map_length, combine_length, LW, LC, Nat.min_id, <- sum_scale.
  apply sum_le. intros x X.
  set (f := fun p : Z * Z => (Z.shiftl (fst p * snd p) UNIT_BITS / Zpos (over w * unit))%Z).
  rewrite (nth_indep _ 0%Z (f (0, 0)%Z)) by (rewrite map_length, combine_length; lia).
  rewrite map_nth, combine_nth by lia. unfold f. cbn [fst snd].
  specialize (H x X). pose proof (entry_nonneg w x P) as E.
  apply Rle_trans with (IZR UNIT * (entry w x * (IZR (nth x column 0%Z) / IZR (Zpos unit))) * q x).
  - apply Rmult_le_compat_r; [apply N, X|].
    apply Rle_trans with (1 := div_le _ (Zpos (over w * unit)) ltac:(reflexivity)).
    rewrite shiftl_two by (vm_compute; discriminate). rewrite <- unit_two, mult_IZR.
    rewrite Pos2Z.inj_mul, mult_IZR. unfold entry. right. field.
    split; apply not_0_IZR; discriminate.
  - rewrite !Rmult_assoc. apply Rmult_le_compat_l; [left; exact unit_pos|].
    apply Rmult_le_compat_l; [exact E|]. apply Rmult_le_compat_r; [apply N, X | exact H].
Qed.

Lemma rising_last : forall l first d, rising (first :: l) = true ->
  real first <= real (last (first :: l) d).
Proof.
  induction l as [|b l]; intros first d H; [simpl; lra|]. apply rising_cons in H as [A B].
  specialize (IHl b d B). change (last (first :: b :: l) d) with (last (b :: l) d). lra.
Qed.

Lemma ready_rays_gain : forall k cone o rays n p vs unit prices u,
  forallb (well_formed k) cone = true -> (forall v, In v (p :: vs) -> Nat.eqb (length v) k = true) ->
  ready_of k cone o = Some (ReadyRays rays n) -> rays_gain k rays n p vs unit prices = Some u ->
  length u = k /\ forall q, in_cone k cone q -> IZR UNIT * (gain p vs q / IZR (Zpos unit)) + dot u q <= 0.
Proof.
  intros k cone o rays n p vs unit prices u W LV R0 G.
  assert (LU : length u = k).
  { unfold rays_gain in G. destruct (_ && _) eqn:C in G; [|discriminate]. apply some_eq in G.
    rewrite <- G. apply andb_true_iff in C as [C _]. apply Nat.eqb_eq, C. }
  split; [exact LU|]. intros q Q. destruct o as [| order | blocks direction | prior | facets m];
    cbn [ready_of] in R0; try discriminate.
  - destruct (is_order k order); [|discriminate]. destruct (line_steps _ _); discriminate.
  - destruct (is_partition k blocks); discriminate.
  - destruct (_ && _) in R0; [|discriminate]. destruct (lift_ends cone prior); discriminate.
  - destruct (cone_rays k cone facets) as [found|] eqn:F; [|discriminate]. injection R0 as <- <-.
    apply (rays_gain_sound k found m p vs unit prices u q); auto.
    + apply Nat.eqb_eq, LV. left. reflexivity.
    + intros v I. apply Nat.eqb_eq, LV. right. exact I.
    + apply cone_rays_sound with cone facets; assumption.
Qed.

(* Safe prices of a gain bound the sum over outputs. *)
Lemma gain_bound : forall k n C b constant p vs unit u,
  b <= real constant + IZR (total u) / IZR UNIT -> is_channel k n C ->
  (forall v, In v (p :: vs) -> Nat.eqb (length v) k = true) -> length u = k ->
  (forall y, (y < n)%nat ->
    IZR UNIT * (gain p vs (fun x => C x y) / IZR (Zpos unit)) + dot u (fun x => C x y) <= 0) ->
  b <= real constant - sum n (fun y =>
    sum_of_squares k vs unit (fun x => C x y) / inner_of k p unit (fun x => C x y)).
Proof.
  intros k n C b constant p vs unit u E CC LV LU H. apply Rle_trans with (1 := E).
  apply Rplus_le_compat_l with (r := real constant). pose proof unit_pos as UP.
  apply Rmult_le_reg_l with (IZR UNIT); [exact UP|].
  replace (IZR UNIT * (IZR (total u) / IZR UNIT)) with (IZR (total u)) by (field; lra).
  rewrite <- (prices_sum k n C u CC LU).
  match goal with |- _ <= _ * - sum n ?t => set (term := t) end.
  replace (IZR UNIT * - sum n term) with (IZR UNIT * (-1) * sum n term) by ring.
  rewrite <- sum_scale. apply sum_le. intros y Y. unfold term. rewrite squares_gain.
  - specialize (H y Y). lra.
  - apply Nat.eqb_eq, LV. left. reflexivity.
  - intros v I. apply Nat.eqb_eq, LV. right. exact I.
Qed.

Theorem check_linear_sound : forall s c b, check_linear s c b = true -> is_bound s (real b).
Proof.
  intros s c b H. unfold check_linear in H. set (k := inputs s) in *.
  apply andb_true_iff in H as [H A]. apply andb_true_iff in H as [W LU]. apply Nat.eqb_eq in LU.
  destruct (line c) as [|nodes|].
  - destruct (aim s) as [low high unit [w|] |] eqn:AIM; try discriminate.
    apply andb_true_iff in A as [A E]. apply andb_true_iff in A as [A OK]. apply andb_true_iff in A as [A LL].
    apply andb_true_iff in A as [LW P]. apply Nat.eqb_eq in LW. rewrite forallb_forall in LL.
    destruct (limited k (limits s) (of_limits c) (map (node_of w unit) low)) as [[nodes p]|] eqn:LIM;
      [|discriminate].
    assert (LN : forall cost, In cost (map (node_of w unit) low) -> length cost = k).
    { intros cost I. apply in_map_iff in I as (column & <- & I). apply LL, Nat.eqb_eq in I.
      unfold node_of. rewrite map_length, combine_length. lia. }
    assert (LM : forall cost, In cost nodes -> length cost = k).
    { pose proof (limited_sound k (fun _ => 0) (fun _ _ => Rle_refl 0) _ _ _ _ _ OK LN LIM) as G.
      clear - G. induction G; intros cost I; [destruct I|]. destruct I as [<- | I]; [apply H | auto]. }
    unfold check_nodes in E. destruct (ready_of k (cone s) (oracle_of c)) as [r|] eqn:R0; [|discriminate].
    destruct (priced _ _ _ _ _ _ _) as [found|] eqn:F; [|discriminate].
    apply priced_sound with (o := oracle_of c) in F; auto.
    destruct (joined found) as [u|] eqn:J; [|discriminate].
    destruct (joined_sound k found u (safe_lengths _ _ _ _ F) J) as [L S].
    apply reaches_sound in E. pose proof unit_pos as UP.
    assert (PAID : real (less_paid p) = - IZR p / IZR UNIT).
    { unfold real, less_paid. cbn [num den]. rewrite Z2Pos.id by (apply lt_IZR; exact UP).
      rewrite opp_IZR. reflexivity. }
    rewrite PAID in E. unfold is_bound. rewrite AIM. fold k.
    intros n C CC CP CL D answer CD CA. apply Rle_trans with (1 := E).
    apply Rmult_le_reg_l with (IZR UNIT); [exact UP|].
    replace (IZR UNIT * (- IZR p / IZR UNIT + IZR (total u) / IZR UNIT)) with (IZR (total u) - IZR p)
      by (field; lra).
    pose proof (penalty_paid k n C _ _ _ _ _ CL OK LIM) as PEN.
    set (pen := fun y => penalty (limits s) (of_limits c) (fun x => C x y)) in *.
    enough (G : IZR (total u) <= IZR UNIT * mean_loss k n (entry w) D answer C + sum n pen) by lra.
    rewrite <- (prices_sum k n C u CC L). unfold mean_loss, loss_at.
    rewrite (sum_ext k _ (fun x => sum n (fun y => entry w x * (D x (answer y) * C x y))))
      by (intros; rewrite sum_scale; reflexivity).
    rewrite sum_swap, <- sum_scale, <- sum_plus. apply sum_le. intros y Y.
    assert (Q := column_in_cone k n (cone s) C y CC CP Y).
    assert (I : In (nth (answer y) low []) low) by (apply nth_In, CA, Y).
    pose proof (limited_sound k (fun x => C x y) (proj1 Q) _ _ _ _ _ OK LN LIM) as G.
    assert (G' : exists cost', In cost' nodes /\
      dot cost' (fun x => C x y) <= dot (node_of w unit (nth (answer y) low [])) (fun x => C x y) + pen y).
    { pose proof (in_map (node_of w unit) _ _ I) as IM. clear - G IM. induction G; [destruct IM|].
      destruct IM as [<- | IM].
      - exists x. split; [left; reflexivity | apply H].
      - destruct (IHG IM) as (c' & I & B). exists c'. split; [right; exact I | exact B]. }
    destruct G' as (cost' & IC & BC).
    destruct (safe_of _ _ _ _ _ F IC) as (v & J' & _ & SV).
    apply Rle_trans with (1 := S v _ J' (proj1 Q)). apply Rle_trans with (1 := SV _ Q).
    apply Rle_trans with (1 := BC). apply Rplus_le_compat_r.
    apply (node_of_le k w unit _ (fun x => D x (answer y)) (fun x => C x y)); auto.
    + apply Nat.eqb_eq, LL, I.
    + apply Q.
    + intros x X. apply CD; auto.
  - destruct (aim s) as [| constant p [|v [|]] unit] eqn:AIM; try discriminate.
    apply andb_true_iff in A as [A E]. apply andb_true_iff in A as [A RE].
    apply andb_true_iff in A as [A P]. apply andb_true_iff in A as [LP LV]. apply Nat.eqb_eq in LP, LV.
    unfold check_nodes in E. destruct (ready_of k (cone s) (oracle_of c)) as [r|] eqn:R0; [|discriminate].
    destruct (priced _ _ _ _ _ _ _) as [found|] eqn:F; [|discriminate].
    apply priced_sound with (o := oracle_of c) in F; auto.
    2: { intros cost I. apply in_map_iff in I as (t & <- & I). apply square_node_length; assumption. }
    destruct (joined (intervals p unit nodes found)) as [u|] eqn:J; [|discriminate].
    destruct nodes as [|s0 [|s1 nodes]]; try discriminate.
    apply andb_true_iff in RE as [RE RI]. apply andb_true_iff in RE as [LO HI].
    assert (LI : forall t, In t (intervals p unit (s0 :: s1 :: nodes) found) -> length t = k).
    { intros t. pose proof (safe_lengths _ _ _ _ F) as LF. revert LF t. clear - LP.
      generalize (s0 :: s1 :: nodes). clear s0 s1 nodes. revert found.
      induction found as [|a found]; intros l LF t I; [destruct l as [|? [|]]; destruct I|].
      destruct l as [|s0 [|s1 l]]; try destruct I. destruct found as [|b found]; [destruct I|].
      change (intervals p unit (s0 :: s1 :: l) (a :: b :: found)) with
        (arcs (curvature p unit s0 s1) a b :: intervals p unit (s1 :: l) (b :: found)) in I.
      destruct I as [<- | I].
      - apply arcs_length; [rewrite curvature_length; exact LP | apply LF | apply LF];
          [left | right; left]; reflexivity.
      - apply (IHfound (s1 :: l)); [intros; apply LF; right; assumption | exact I]. }
    destruct (joined_sound k _ u LI J) as [L S]. apply reaches_sound in E.
    unfold is_bound. rewrite AIM. fold k. intros n C CC CP _.
    apply Rle_trans with (1 := E). pose proof unit_pos as UP.
    apply Rplus_le_compat_l with (r := real constant) (r1 := IZR (total u) / IZR UNIT).
    apply Rmult_le_reg_l with (IZR UNIT); [exact UP|].
    replace (IZR UNIT * (IZR (total u) / IZR UNIT)) with (IZR (total u)) by (field; lra).
    rewrite <- (prices_sum k n C u CC L).
    match goal with |- _ <= _ * - sum n ?t => set (term := t) end. replace (IZR UNIT * - sum n term) with (IZR UNIT * (-1) * sum n term) by ring.
    rewrite <- sum_scale. apply sum_le. intros y Y. unfold term. cbn [sum_of_squares]. rewrite Rplus_0_r.
    assert (Q := column_in_cone k n (cone s) C y CC CP Y).
    set (q := fun x => C x y) in *. set (PQ := inner_of k p unit q). set (VQ := inner_of k v unit q).
    fold q. fold PQ VQ.
    assert (PP : 0 <= PQ).
    { apply sum_nonneg. intros x X. apply Rmult_le_pos; [|apply Q, X]. unfold Rdiv.
      apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, IZR_lt; reflexivity].
      apply IZR_le. rewrite forallb_forall in P. apply Z.leb_le, P, nth_In. lia. }
    destruct (ends_bound k s0 p v unit q LP LV (proj1 Q)) as [EL _]. specialize (EL LO).
    destruct (ends_bound k (last (s0 :: s1 :: nodes) s0) p v unit q LP LV (proj1 Q)) as [_ EH].
    specialize (EH HI). fold PQ VQ in EL, EH. set (top := real (last (s0 :: s1 :: nodes) s0)) in *.
    assert (G : exists t, real s0 <= t <= top /\ t * t * PQ - 2 * t * VQ = - (VQ * VQ / PQ)).
    { destruct (Req_dec PQ 0) as [Z0 | Z0].
      - rewrite Z0 in *. assert (V0 : VQ = 0) by lra. exists (real s0). split.
        + split; [lra|]. apply (rising_last (s1 :: nodes) s0 s0 RI).
        + rewrite V0. unfold Rdiv. ring.
      - exists (VQ / PQ). split.
        + split; apply Rmult_le_reg_r with PQ; try lra; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
        + field. exact Z0. }
    destruct G as (t & T & G).
    destruct (intervals_sound k (cone s) p v unit q Q LP LV P (s0 :: s1 :: nodes) found) with (s := t)
      (first := s0) as (w & I & LW & W'); auto.
    + clear - F Q. remember (map (square_node p v unit) (s0 :: s1 :: nodes)) as costs. clear Heqcosts.
      induction F; constructor; [|assumption]. destruct H as [A B]. split; [exact A | apply B, Q].
    + simpl. lia.
    + apply Rle_trans with (1 := S w q I (proj1 Q)). apply Rle_trans with (1 := W').
      fold PQ VQ. rewrite G. right. ring.
  - destruct (aim s) as [| constant p vs unit] eqn:AIM; [destruct weights; discriminate|].
    apply andb_true_iff in A as [LV E]. rewrite forallb_forall in LV.
    destruct (ready_of k (cone s) (oracle_of c)) as [[]|] eqn:R0; try discriminate.
    destruct (rays_gain _ _ _ _ _ _ _) as [u|] eqn:G; [|discriminate]. apply reaches_sound in E.
    unfold is_bound. rewrite AIM. fold k. intros n C CC CP _.
    destruct (ready_rays_gain k (cone s) (oracle_of c) rays direction p vs unit (prices c) u W LV R0 G)
      as [LU' SAFE].
    apply gain_bound with (1 := E) (2 := CC) (3 := LV) (4 := LU').
    intros y Y. apply SAFE, (column_in_cone k n (cone s) C y CC CP Y).
Qed.

Theorem check_bound_sound : forall s c b, check_bound s c b = true -> is_bound s (real b).
Proof.
  intros s c b H. unfold check_bound in H.
  destruct (relax_all (relaxations c) s) as [s'|] eqn:R0; [|discriminate].
  apply relax_all_sound with (1 := R0). apply check_linear_sound with c. exact H.
Qed.

(* Oracle one budget: ratios inside blocks bound each entry by the least one of the block.

   Let t be the least entry of q on a block and M_x the largest bound on q_x / q_z there, so that
   t <= q_x <= M_x t. With d = c - u and weights n >= 0, at any level, e = d - level n has
   e . q >= t W, W = Sum e_x + Sum (M_x - 1) min (0, e_x); where W >= 0, u + level n is safe, and what
   W is short of 0 is taken from the level. Newton's steps find a good level; any would be sound. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive.
Require Import Definitions Exponential Sums Arrays Privacy Cone Ceilings.
Import ListNotations.
Open Scope Z_scope.

Definition ONE : Z := 2 ^ GRID.

(* The largest bound on q_x / q_z over z of the block, at least 1; None where some z bounds nothing. *)
Definition raise (cs : list ceiling) (x : N) (most : option Z) (z : N) : option Z :=
  if N.eqb x z then most
  else match most, ratio_above cs x z with
       | Some m, Some r => Some (Z.max m r)
       | _, _ => None
       end.

Definition ceiling_in (cs : list ceiling) (block : list N) (x : N) : option Z :=
  fold_left (raise cs x) block (Some ONE).

(* An input of a block: its place, weight n and bound M. *)
Record member := { input : N; share : Z; highest : option Z }.

Definition first_share (n : list Z) : list Z :=
  if forallb (Z.eqb 0) n then match n with [] => [] | _ :: rest => 1 :: rest end else n.

Definition members (cs : list ceiling) (weights : array Z) (block : list N) : list member :=
  map (fun p => {| input := fst p; share := snd p; highest := ceiling_in cs block (fst p) |})
    (combine block (first_share (map (get weights) block))).

(* e = d - level n of each member *)
Definition rest_of (level : Z) (p : member * Z) : Z := snd p - level * share (fst p).

(* W, times ONE *)
Definition worth (level : Z) (ps : list (member * Z)) : Z :=
  fold_right (fun p t =>
    let e := rest_of level p in
    e * ONE + match highest (fst p) with Some m => (m - ONE) * Z.min 0 e | None => 0 end + t) 0 ps.

(* How fast it falls in the level. *)
Definition slope (level : Z) (ps : list (member * Z)) : Z :=
  fold_right (fun p t =>
    share (fst p) * ONE +
    match highest (fst p) with
    | Some m => if rest_of level p <? 0 then share (fst p) * (m - ONE) else 0
    | None => 0
    end + t) 0 ps.

(* The largest level that keeps e >= 0 where there is no M. *)
Definition cap (ps : list (member * Z)) : option Z :=
  fold_right (fun p most =>
    match highest (fst p) with
    | None =>
        if 0 <? share (fst p) then
          let v := snd p / share (fst p) in
          Some (match most with Some w => Z.min v w | None => v end)
        else most
    | Some _ => most
    end) None ps.

Definition capped (most : option Z) (v : Z) : Z :=
  match most with Some w => Z.min v w | None => v end.

Fixpoint newton (fuel : nat) (most : option Z) (level : Z) (ps : list (member * Z)) : Z :=
  match fuel with
  | O => level
  | S f =>
      let level' := capped most (level + worth level ps / slope level ps) in
      if level' =? level then level
      else newton f most level' ps
  end.

Definition shares (ps : list (member * Z)) : Z := fold_right (fun p t => share (fst p) + t) 0 ps.

(* A safe level. *)
Definition level_of (ps : list (member * Z)) : option Z :=
  let most := cap ps in
  let level := newton 40 most (capped most 0) ps in
  let w := worth level ps in
  if forallb (fun p => match highest (fst p) with
                       | Some _ => true
                       | None => 0 <=? rest_of level p end) ps
     && forallb (fun p => 0 <=? share (fst p)) ps && (0 <? shares ps)
  then Some (if 0 <=? w then level else level + w / (ONE * shares ps))
  else None.

(* Levels are over UNIT 2^SHIFT. *)
Definition SHIFT : Z := 64.

Fixpoint budget_prices (costs given : array Z) (blocks : list (list member)) (m : array Z)
    : option (array Z) :=
  match blocks with
  | [] => Some m
  | block :: rest =>
      let u := map (fun b => let x := input b in
        match highest b with
        | Some _ => get given x
        | None => Z.min (get given x) (get costs x)
        end) block in
      let ps := map (fun p => (fst p, Z.shiftl (get costs (input (fst p)) - snd p) SHIFT))
        (combine block u) in
      match level_of ps with
      | Some level =>
          budget_prices costs given rest
            (fold_left (fun t p => put (input (fst p))
              (snd p + Z.shiftr (level * share (fst p)) SHIFT) t) (combine block u) m)
      | None => None
      end
  end.

Definition budget_price (k : nat) (blocks : list (list member)) (cost prices : list Z)
    : option (list Z) :=
  match budget_prices (array_of cost) (array_of prices) blocks (PositiveMap.empty Z) with
  | Some m => Some (collect k 0 m)
  | None => None
  end.

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

Lemma one_two : IZR ONE = two GRID.
Proof. reflexivity. Qed.

Lemma one_pos : (0 < ONE)%Z.
Proof. reflexivity. Qed.

Opaque ONE SHIFT.

Lemma raise_none : forall cs x l, fold_left (raise cs x) l None = None.
Proof.
  induction l as [|z l]; [reflexivity|]. simpl. unfold raise at 2. destruct (N.eqb x z); exact IHl.
Qed.

Lemma ceiling_in_from : forall cs x l m0 m, fold_left (raise cs x) l (Some m0) = Some m ->
  (m0 <= m)%Z /\ forall z, In z l -> x <> z -> exists r, ratio_above cs x z = Some r /\ (r <= m)%Z.
Proof.
  induction l as [|z l]; intros m0 m E; simpl in E.
  - injection E as <-. split; [lia | intros z []].
  - unfold raise at 2 in E. destruct (N.eqb_spec x z) as [<- | NE].
    + destruct (IHl m0 m E) as [L A]. split; [exact L|].
      intros y [<- | I] D; [congruence | apply A; assumption].
    + destruct (ratio_above cs x z) as [r|] eqn:R0; [|rewrite raise_none in E; discriminate].
      destruct (IHl _ m E) as [L A]. split; [lia|].
      intros y [<- | I] D; [exists r; split; [exact R0 | lia] | apply A; assumption].
Qed.

(* The members of a block at a column: t <= q_x <= M_x t. *)
Definition member_holds (t : R) (q : nat -> R) (b : member) : Prop :=
  t <= q (N.to_nat (input b)) /\
  forall m, highest b = Some m ->
    (ONE <= m)%Z /\ IZR ONE * q (N.to_nat (input b)) <= IZR m * t.

Lemma least_exists : forall (q : nat -> R) l, l <> [] -> exists z, In z l /\
  forall x, In x l -> q (N.to_nat z) <= q (N.to_nat x).
Proof.
  induction l as [|y l]; intro H; [congruence|]. destruct l as [|v l].
  - exists y. split; [left; reflexivity|]. intros x [<- | []]. lra.
  - destruct IHl as (z & I & A); [discriminate|].
    destruct (Rle_lt_dec (q (N.to_nat y)) (q (N.to_nat z))) as [L | L].
    + exists y. split; [left; reflexivity|]. intros x [<- | J]; [lra|].
      apply Rle_trans with (1 := L). apply A, J.
    + exists z. split; [right; exact I|]. intros x [<- | J]; [lra | apply A, J].
Qed.

Lemma members_hold : forall k cone weights block q, forallb (well_formed k) cone = true ->
  in_cone k cone q -> block <> [] -> (forall x, In x block -> (N.to_nat x < k)%nat) ->
  exists t, 0 <= t /\
    forall b, In b (members (map ceiling_of cone) weights block) -> member_holds t q b.
Proof.
  intros k cone weights block q W Q NE I. destruct (least_exists q block NE) as (z & Z0 & L).
  exists (q (N.to_nat z)). split; [apply Q, I, Z0|]. intros b B. unfold members in B.
  apply in_map_iff in B as ([x n] & <- & B). apply in_combine_l in B. unfold member_holds.
  cbn [input highest fst]. split; [apply L, B|]. intros m E. unfold ceiling_in in E.
  apply ceiling_in_from in E as [M A]. split; [exact M|].
  destruct (N.eq_dec x z) as [-> | D].
  - apply Rmult_le_compat_r; [apply Q, I, Z0 | apply IZR_le, M].
  - destruct (A z Z0 D) as (r & E & LE). apply ratio_above_sound with (1 := W) (2 := Q) in E.
    rewrite one_two. apply Rle_trans with (1 := E). apply Rmult_le_compat_r; [apply Q, I, Z0|].
    apply IZR_le, LE.
Qed.

Definition at_member (q : nat -> R) (p : member * Z) : R := q (N.to_nat (input (fst p))).

(* e . q and n . q over a block *)
Definition rests (level : Z) (ps : list (member * Z)) (q : nat -> R) : R :=
  fold_right (fun p t => IZR (rest_of level p) * at_member q p + t) 0 ps.

Definition weighed (ps : list (member * Z)) (q : nat -> R) : R :=
  fold_right (fun p t => IZR (share (fst p)) * at_member q p + t) 0 ps.

Lemma worth_sound : forall t level q ps, 0 <= t ->
  (forall p, In p ps -> member_holds t q (fst p)) ->
  forallb (fun p => match highest (fst p) with Some _ => true | None => 0 <=? rest_of level p end)%Z ps
    = true ->
  t * IZR (worth level ps) <= IZR ONE * rests level ps q.
Proof.
  intros t level q. induction ps as [|p ps]; intros T H C; [simpl; lra|].
  simpl in C. apply andb_true_iff in C as [C C'].
  specialize (IHps T (fun p I => H p (or_intror I)) C'). destruct (H p (or_introl eq_refl)) as [L U].
  simpl. unfold at_member. set (e := rest_of level p) in *. set (v := q (N.to_nat (input (fst p)))) in *.
  pose proof one_pos as O. apply IZR_lt in O.
  rewrite !plus_IZR, mult_IZR.
  assert (G : t * (IZR e * IZR ONE + IZR (match highest (fst p) with
     | Some m => ((m - ONE) * Z.min 0 e)%Z | None => 0%Z end)) <= IZR ONE * (IZR e * v)); [|lra].
  destruct (highest (fst p)) as [m|] eqn:HM.
  - destruct (U m eq_refl) as [M UB]. rewrite mult_IZR, minus_IZR.
    destruct (Z.min_spec 0 e) as [[N ->] | [N ->]].
    + apply IZR_lt in N.
      assert (IZR e * t <= IZR e * v) by (apply Rmult_le_compat_l; lra). nra.
    + apply IZR_le in N.
      assert (IZR e * (IZR m * t) <= IZR e * (IZR ONE * v)) by nra. nra.
  - apply Z.leb_le, IZR_le in C.
    assert (IZR e * t <= IZR e * v) by (apply Rmult_le_compat_l; lra). nra.
Qed.

Lemma shares_sound : forall t q ps, (forall p, In p ps -> member_holds t q (fst p)) ->
  forallb (fun p => 0 <=? share (fst p))%Z ps = true -> t * IZR (shares ps) <= weighed ps q.
Proof.
  intros t q. induction ps as [|p ps]; intros H C; [simpl; lra|].
  simpl in C. apply andb_true_iff in C as [C C'].
  specialize (IHps (fun p I => H p (or_intror I)) C'). destruct (H p (or_introl eq_refl)) as [L _].
  simpl. unfold at_member. rewrite plus_IZR. apply Z.leb_le, IZR_le in C.
  assert (IZR (share (fst p)) * t <= IZR (share (fst p)) * q (N.to_nat (input (fst p))))
    by (apply Rmult_le_compat_l; assumption). lra.
Qed.

Lemma rests_split : forall l q ps,
  fold_right (fun p s => IZR (snd p) * at_member q p + s) 0 ps = rests l ps q + IZR l * weighed ps q.
Proof.
  intros l q. induction ps as [|p ps]; simpl; [lra|]. rewrite IHps. unfold rest_of.
  rewrite minus_IZR, mult_IZR. ring.
Qed.

Lemma level_sound : forall t q ps level, 0 <= t ->
  (forall p, In p ps -> member_holds t q (fst p)) -> level_of ps = Some level ->
  IZR level * weighed ps q <= fold_right (fun p s => IZR (snd p) * at_member q p + s) 0 ps /\
  forallb (fun p => 0 <=? share (fst p))%Z ps = true.
Proof.
  intros t q ps level T H E. unfold level_of in E.
  set (l := newton 40 (cap ps) (capped (cap ps) 0) ps) in *. clearbody l. set (w := worth l ps) in *.
  destruct (_ && _ && _) eqn:C; [|discriminate]. apply andb_true_iff in C as [C S].
  apply andb_true_iff in C as [C N]. apply Z.ltb_lt in S.
  split; [|exact N].
  rewrite (rests_split l).
  pose proof (worth_sound t l q ps T H C) as WS. fold w in WS.
  pose proof (shares_sound t q ps H N) as SS. pose proof one_pos as O.
  assert (OS : (0 < ONE * shares ps)%Z) by (apply Z.mul_pos_pos; assumption).
  apply IZR_lt in S. apply IZR_lt in O.
  destruct (0 <=? w)%Z eqn:WP; injection E as <-.
  - apply Z.leb_le, IZR_le in WP. assert (0 <= t * IZR w) by (apply Rmult_le_pos; assumption). nra.
  - apply Z.leb_gt in WP. pose proof (div_le w _ OS) as D. apply IZR_lt in WP.
    rewrite plus_IZR, mult_IZR in *.
    assert (TS : 0 <= weighed ps q). { apply Rle_trans with (2 := SS). apply Rmult_le_pos; lra. }
    apply Rmult_le_compat_r with (r := weighed ps q) in D; [|exact TS].
    assert (G : IZR w / (IZR ONE * IZR (shares ps)) * weighed ps q <= rests l ps q); [|lra].
    apply Rmult_le_reg_l with (IZR ONE * IZR (shares ps)); [apply Rmult_lt_0_compat; lra|].
    replace (IZR ONE * IZR (shares ps) * (IZR w / (IZR ONE * IZR (shares ps)) * weighed ps q))
      with (IZR w * weighed ps q) by (field; lra).
    apply Rle_trans with (IZR (shares ps) * (t * IZR w)); [nra|].
    rewrite (Rmult_comm (IZR ONE)), Rmult_assoc. apply Rmult_le_compat_l; lra.
Qed.

(* The prices of one block, added to a sparse vector. *)
Lemma put_all_product : forall k level q l m,
  (forall p : member * Z, In p l -> (N.to_nat (input (fst p)) < k)%nat) ->
  (forall x, (x < k)%nat -> 0 <= q x) ->
  product k (fold_left (fun t p => put (input (fst p))
    (snd p + Z.shiftr (level * share (fst p)) SHIFT)%Z t) l m) q <=
  product k m q + fold_right (fun p s => IZR (snd p) * at_member q p + s) 0 l
    + IZR level / two SHIFT * weighed l q.
Proof.
  intros k level q. induction l as [|p l]; intros m I N; [simpl; lra|]. cbn [fold_left].
  apply Rle_trans with (1 := IHl _ (fun p H => I p (or_intror H)) N).
  assert (X : (N.to_nat (input (fst p)) < k)%nat) by (apply I; left; reflexivity).
  rewrite product_put by exact X. simpl. unfold at_member at 2 4. set (v := q (N.to_nat (input (fst p)))).
  assert (V : 0 <= v) by (apply N, X).
  assert (SH : (0 <= SHIFT)%Z) by (vm_compute; discriminate).
  pose proof (shiftr_le (level * share (fst p)) SHIFT SH) as S. pose proof (two_pos SHIFT SH) as P.
  rewrite plus_IZR. rewrite mult_IZR in S.
  assert (S' : IZR (Z.shiftr (level * share (fst p)) SHIFT) <= IZR level / two SHIFT * IZR (share (fst p))).
  { apply Rmult_le_reg_r with (two SHIFT); [exact P|]. apply Rle_trans with (1 := S). right. field. lra. }
  apply Rmult_le_compat_r with (r := v) in S'; [|exact V]. lra.
Qed.

Lemma block_sum : forall (cost : array Z) q block (u : list Z), length u = length block ->
  let l := combine block u in
  fold_right (fun p s => IZR (snd p) * at_member q p + s) 0 l +
  fold_right (fun p s => IZR (snd p) * at_member q p + s) 0
    (map (fun p => (fst p, Z.shiftl (get cost (input (fst p)) - snd p) SHIFT)) l) / two SHIFT =
  sum_over (map input block) (fun i => IZR (get cost (N.of_nat i)) * q i).
Proof.
  intros cost q. assert (SH : (0 <= SHIFT)%Z) by (vm_compute; discriminate).
  pose proof (two_pos SHIFT SH) as P.
  induction block as [|b block]; destruct u as [|v u]; intro L; try discriminate; [simpl; lra|].
  injection L as L. specialize (IHblock u L). cbn zeta in *. simpl.
  rewrite shiftl_two by exact SH. rewrite N2Nat.id. rewrite <- IHblock. unfold at_member. simpl.
  rewrite minus_IZR. field. lra.
Qed.

Lemma weighed_map : forall q (f : member * Z -> Z) l,
  weighed (map (fun p => (fst p, f p)) l) q = weighed l q.
Proof. induction l as [|p l]; simpl; [reflexivity | rewrite IHl; reflexivity]. Qed.

Lemma budget_prices_sound : forall k q costs given blocks m m',
  (forall block, In block blocks -> exists t, 0 <= t /\ forall b, In b block -> member_holds t q b) ->
  (forall block b, In block blocks -> In b block -> (N.to_nat (input b) < k)%nat) ->
  (forall x, (x < k)%nat -> 0 <= q x) ->
  budget_prices costs given blocks m = Some m' ->
  product k m' q <= product k m q +
    sum_over (concat (map (map input) blocks)) (fun i => IZR (get costs (N.of_nat i)) * q i).
Proof.
  intros k q costs given. induction blocks as [|block blocks]; intros m m' H I N E; simpl in E.
  - injection E as <-. simpl. lra.
  - set (u := map _ block) in E. set (ps := map _ (combine block u)) in E.
    destruct (level_of ps) as [level|] eqn:L; [|discriminate].
    apply IHblocks in E; [|intros; apply H; right; assumption | | exact N].
    2: { intros; apply I with block0; [right|]; assumption. }
    apply Rle_trans with (1 := E). simpl. rewrite sum_over_app.
    destruct (H block (or_introl eq_refl)) as (t & T & MH).
    assert (PH : forall p, In p ps -> member_holds t q (fst p)).
    { intros p P. unfold ps in P. apply in_map_iff in P as ([b v] & <- & P). simpl.
      apply MH. apply in_combine_l in P. exact P. }
    apply level_sound with (t := t) (q := q) in L as [L _]; [|exact T | exact PH].
    assert (LU : length u = length block) by (unfold u; apply map_length).
    assert (IB : forall p, In p (combine block u) -> (N.to_nat (input (fst p)) < k)%nat).
    { intros [b v] P. apply in_combine_l in P. apply I with block; [left; reflexivity | exact P]. }
    pose proof (put_all_product k level q (combine block u) m IB N) as P.
    pose proof (block_sum costs q block u LU) as B. cbn zeta in B. fold ps in B.
    unfold ps in L at 1. rewrite weighed_map in L.
    assert (SH : (0 <= SHIFT)%Z) by (vm_compute; discriminate). pose proof (two_pos SHIFT SH) as P2.
    set (big := fold_right _ 0 ps) in *.
    assert (IZR level / two SHIFT * weighed (combine block u) q <= big / two SHIFT).
    { unfold Rdiv. rewrite (Rmult_comm (IZR level)), Rmult_assoc, (Rmult_comm big).
      apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat, P2 | exact L]. }
    lra.
Qed.

Lemma map_fst_combine : forall (a : list N) (b : list Z), length b = length a ->
  map (fun p => fst p) (combine a b) = a.
Proof.
  induction a as [|x a]; destruct b; simpl; intro L; try discriminate; [reflexivity|].
  f_equal. apply IHa. injection L. auto.
Qed.

Lemma members_inputs : forall cs weights block, map input (members cs weights block) = block.
Proof.
  intros. unfold members. rewrite map_map. cbn [input].
  assert (L : length (first_share (map (get weights) block)) = length block).
  { unfold first_share. destruct (forallb _ _); [|apply map_length].
    destruct block; [reflexivity|]. simpl. rewrite map_length. reflexivity. }
  exact (map_fst_combine block _ L).
Qed.

(* The blocks must be a partition of the inputs. *)
Definition all_members (cs : list ceiling) (blocks : list (list N)) (weights : list Z)
    : list (list member) :=
  let n := array_of weights in map (members cs n) blocks.

Definition is_partition (k : nat) (blocks : list (list N)) : bool :=
  is_order k (concat blocks) && forallb (fun b => match b with [] => false | _ => true end) blocks.

Theorem budget_sound : forall k cone blocks weights cost prices safe,
  forallb (well_formed k) cone = true -> is_partition k blocks = true -> length cost = k ->
  budget_price k (all_members (map ceiling_of cone) blocks weights) cost prices = Some safe ->
  length safe = k /\ forall q, in_cone k cone q -> dot safe q <= dot cost q.
Proof.
  intros k cone blocks weights cost prices safe W P LC E. unfold budget_price in E.
  destruct (budget_prices _ _ _ _) as [m|] eqn:B; [|discriminate]. injection E as <-.
  split; [apply collect_length|]. intros q Q. unfold is_partition in P.
  apply andb_true_iff in P as [O NE]. rewrite forallb_forall in NE.
  assert (IN : forall block x, In block blocks -> In x block -> (N.to_nat x < k)%nat).
  { intros block x I J. apply is_order_inputs with (concat blocks); [exact O|].
    apply in_concat. exists block. auto. }
  apply budget_prices_sound with (k := k) (q := q) in B.
  - rewrite product_empty in B. unfold all_members in B. rewrite map_map in B.
    rewrite (map_ext _ (fun block => block)) in B by (intros; apply members_inputs).
    rewrite map_id, (is_order_sum k) in B by exact O. rewrite collect_dot.
    rewrite (sum_ext k _ (fun i => IZR (get m (N.of_nat i)) * q i))
      by (intros; rewrite N.add_0_l; reflexivity).
    unfold product in B. rewrite dot_sum, LC.
    rewrite (sum_ext k (fun i => IZR (nth i cost 0%Z) * q i)
      (fun i => IZR (get (array_of cost) (N.of_nat i)) * q i)); [lra|].
    intros i I. f_equal. f_equal. unfold get. rewrite pick_array_of, Nat2N.id.
    destruct (nth_error cost i) as [v|] eqn:V; [apply nth_error_nth, V|].
    apply nth_error_None in V. apply nth_overflow, V.
  - intros block I. unfold all_members in I. apply in_map_iff in I as (b & <- & I).
    apply members_hold with (k := k); auto.
    + specialize (NE b I). destruct b; [discriminate | congruence].
    + intros; apply IN with b; auto.
  - intros block b I J. unfold all_members in I. apply in_map_iff in I as (l & <- & I).
    apply IN with l; [exact I|]. rewrite <- (members_inputs (map ceiling_of cone) (array_of weights) l).
    apply in_map, J.
  - apply Q.
Qed.

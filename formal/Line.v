(* Oracle line: ratios of neighbors in an order, bounded both ways; a walk from both ends.

   What comes after x costs at least R_x q_x, what comes before it at least L_x q_x; so that
   (c - u) . q >= W q_x with W = d_x + R_x + L_x, and u + W e_x is safe. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive.
Require Import Definitions Exponential Sums Arrays Privacy Cone Ceilings.
Import ListNotations.
Open Scope Z_scope.

(* From x to its neighbor z: down q_x <= q_z <= up q_x, and back_down q_z <= q_x <= back_up q_z. *)
Record step := { down : Z; up : Z; back_down : Z; back_up : Z }.

Fixpoint line_steps (cs : list ceiling) (order : list N) : option (list step) :=
  match order with
  | x :: ((z :: _) as rest) =>
      match ratio_above cs z x, ratio_above cs x z, line_steps cs rest with
      | Some a, Some b, Some steps =>
          if (0 <? a) && (0 <? b)
          then Some ({| down := 2 ^ (2 * GRID) / b; up := a;
                        back_down := 2 ^ (2 * GRID) / a; back_up := b |} :: steps)
          else None
      | _, _, _ => None
      end
  | _ => Some []
  end.

(* t q >= moved t q', where q is between down q' and up q' *)
Definition moved (down up t : Z) : Z := Z.shiftr (t * (if 0 <=? t then down else up)) GRID.

(* R of each input: of d in the order. *)
Fixpoint after (steps : list step) (d : list Z) {struct d} : list Z :=
  match d, steps with
  | _ :: ((e :: _) as rest), s :: steps' =>
      let found := after steps' rest in
      moved (down s) (up s) (e + hd 0 found) :: found
  | _ :: _, _ => [0]
  | [], _ => []
  end.

(* The largest W, with its input. *)
Fixpoint most (before : Z) (steps : list step) (order : list N) (d afters : list Z)
    {struct order} : option (N * Z) :=
  match order, d, afters with
  | x :: order', e :: d', r :: afters' =>
      let w := before + e + r in
      match steps with
      | [] => Some (x, w)
      | s :: steps' =>
          match most (moved (back_down s) (back_up s) (before + e)) steps' order' d' afters' with
          | Some (z, v) => if v <=? w then Some (x, w) else Some (z, v)
          | None => Some (x, w)
          end
      end
  | _, _, _ => None
  end.

Definition line_price (k : nat) (order : list N) (steps : list step) (cost prices : list Z)
    : option (list Z) :=
  let costs := array_of cost in
  let given := array_of prices in
  let d := map (fun x => get costs x - get given x) order in
  match most 0 steps order d (after steps d) with
  | Some (x, w) => Some (add (collect k 0 (put x w (PositiveMap.empty Z))) prices)
  | None => None
  end.

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

Definition step_holds (s : step) (p q : R) : Prop :=
  IZR (down s) * p <= two GRID * q /\ two GRID * q <= IZR (up s) * p /\
  IZR (back_down s) * q <= two GRID * p /\ two GRID * p <= IZR (back_up s) * q.

Fixpoint steps_hold (steps : list step) (order : list N) (q : nat -> R) : Prop :=
  match order with
  | x :: ((z :: _) as rest) =>
      match steps with
      | s :: steps' => step_holds s (q (N.to_nat x)) (q (N.to_nat z)) /\ steps_hold steps' rest q
      | [] => False
      end
  | _ => match steps with [] => True | _ => False end
  end.

Lemma inverse_step : forall a p q, (0 < a)%Z -> 0 <= p -> two GRID * p <= IZR a * q ->
  IZR (2 ^ (2 * GRID) / a) * p <= two GRID * q.
Proof.
  intros a p q A P H. pose proof (two_pos GRID grid_ok) as G.
  pose proof (div_le (2 ^ (2 * GRID)) a A) as D. apply IZR_lt in A.
  apply Rmult_le_compat_r with (r := p) in D; [|exact P]. apply Rle_trans with (1 := D).
  change (IZR (2 ^ (2 * GRID))) with (two (GRID + GRID)). rewrite two_add by exact grid_ok.
  apply Rmult_le_reg_l with (IZR a); [exact A|].
  replace (IZR a * (two GRID * two GRID / IZR a * p)) with (two GRID * (two GRID * p)) by (field; lra).
  replace (IZR a * (two GRID * q)) with (two GRID * (IZR a * q)) by ring.
  apply Rmult_le_compat_l; lra.
Qed.

Lemma line_steps_cons : forall cs x z rest, line_steps cs (x :: z :: rest) =
  match ratio_above cs z x, ratio_above cs x z, line_steps cs (z :: rest) with
  | Some a, Some b, Some steps =>
      if ((0 <? a) && (0 <? b))%Z
      then Some ({| down := 2 ^ (2 * GRID) / b; up := a;
                    back_down := 2 ^ (2 * GRID) / a; back_up := b |}%Z :: steps)
      else None
  | _, _, _ => None
  end.
Proof. reflexivity. Qed.

Lemma most_cons : forall before s steps x z order e d r afters,
  most before (s :: steps) (x :: z :: order) (e :: d) (r :: afters) =
  match most (moved (back_down s) (back_up s) (before + e)) steps (z :: order) d afters with
  | Some (y, v) => if (v <=? before + e + r)%Z then Some (x, (before + e + r)%Z) else Some (y, v)
  | None => Some (x, (before + e + r)%Z)
  end.
Proof. reflexivity. Qed.

Lemma line_steps_sound : forall k cone q order steps,
  forallb (well_formed k) cone = true -> in_cone k cone q ->
  (forall x, In x order -> (N.to_nat x < k)%nat) ->
  line_steps (map ceiling_of cone) order = Some steps -> steps_hold steps order q.
Proof.
  intros k cone q. induction order as [|x order]; intros steps W Q I E.
  - injection E as <-. constructor.
  - destruct order as [|z order]; [injection E as <-; constructor|].
    rewrite line_steps_cons in E.
    destruct (ratio_above _ z x) as [a|] eqn:A; [|discriminate].
    destruct (ratio_above _ x z) as [b|] eqn:B; [|discriminate].
    destruct (line_steps _ (z :: order)) as [rest|] eqn:R0; [|discriminate].
    destruct ((0 <? a)%Z && (0 <? b)%Z) eqn:P; [|discriminate]. injection E as <-.
    apply andb_true_iff in P as [PA PB]. apply Z.ltb_lt in PA, PB.
    apply ratio_above_sound with (1 := W) (2 := Q) in A.
    apply ratio_above_sound with (1 := W) (2 := Q) in B.
    assert (QX : 0 <= q (N.to_nat x)) by (apply Q, I; left; reflexivity).
    assert (QZ : 0 <= q (N.to_nat z)) by (apply Q, I; right; left; reflexivity).
    split.
    + repeat split; simpl down; simpl up; simpl back_down; simpl back_up; try assumption;
        apply inverse_step; assumption.
    + apply IHorder; auto. intros y Y. apply I. right. exact Y.
Qed.

Lemma moved_sound : forall dn u t p q, 0 <= p -> IZR dn * p <= two GRID * q ->
  two GRID * q <= IZR u * p -> IZR (moved dn u t) * p <= IZR t * q.
Proof.
  intros dn u t p q P D U. pose proof (two_pos GRID grid_ok) as G. unfold moved.
  set (f := if (0 <=? t)%Z then dn else u).
  pose proof (shiftr_le (t * f) GRID grid_ok) as S. rewrite mult_IZR in S.
  apply Rmult_le_reg_r with (two GRID); [exact G|].
  apply Rle_trans with (IZR t * IZR f * p); [nra|].
  assert (IZR t * (IZR f * p) <= IZR t * (two GRID * q)); [|nra].
  unfold f. destruct (0 <=? t)%Z eqn:T.
  - apply Z.leb_le, IZR_le in T. apply Rmult_le_compat_l; assumption.
  - apply Z.leb_gt, IZR_lt in T. nra.
Qed.

(* d . q over the inputs of an order *)
Fixpoint along (order : list N) (d : list Z) (q : nat -> R) : R :=
  match order, d with
  | x :: order', e :: d' => IZR e * q (N.to_nat x) + along order' d' q
  | _, _ => 0
  end.

Lemma after_cons : forall s steps e f d, after (s :: steps) (e :: f :: d) =
  moved (down s) (up s) (f + hd 0%Z (after steps (f :: d))) :: after steps (f :: d).
Proof. reflexivity. Qed.

Lemma after_sound : forall order steps d q, steps_hold steps order q ->
  (forall x, In x order -> 0 <= q (N.to_nat x)) -> length d = length order ->
  match order with
  | [] => True
  | x :: order' => IZR (hd 0%Z (after steps d)) * q (N.to_nat x) <= along order' (tl d) q
  end.
Proof.
  induction order as [|x order]; intros steps d q H N L; [exact I|].
  destruct d as [|e d]; [discriminate|]. injection L as L. destruct order as [|z order].
  - destruct d; [|discriminate]. destruct steps; [|destruct H]. simpl. lra.
  - destruct d as [|f d]; [discriminate|]. destruct steps as [|s steps]; [destruct H|].
    destruct H as [(A & B & C & D) H].
    specialize (IHorder steps (f :: d) q H (fun y Y => N y (or_intror Y)) L).
    rewrite after_cons. cbn [hd tl]. cbn [tl] in IHorder.
    set (r := hd 0%Z (after steps (f :: d))) in *.
    pose proof (moved_sound (down s) (up s) (f + r) (q (N.to_nat x)) (q (N.to_nat z))
      (N x (or_introl eq_refl)) A B) as M.
    rewrite plus_IZR in M. change (along (z :: order) (f :: d) q) with (IZR f * q (N.to_nat z) + along order d q). lra.
Qed.

Lemma most_sound : forall order steps d q before prefix x w, steps_hold steps order q ->
  (forall y, In y order -> 0 <= q (N.to_nat y)) -> length d = length order ->
  match order with [] => True | z :: _ => IZR before * q (N.to_nat z) <= prefix end ->
  most before steps order d (after steps d) = Some (x, w) ->
  In x order /\ IZR w * q (N.to_nat x) <= prefix + along order d q.
Proof.
  induction order as [|y order]; intros steps d q before prefix x w H N L P E; [discriminate|].
  destruct d as [|e d]; [discriminate|]. injection L as L.
  pose proof (after_sound (y :: order) steps (e :: d) q H N (f_equal S L)) as A. cbn [tl] in A.
  destruct order as [|z order].
  - destruct d; [|discriminate]. destruct steps; [|destruct H]. simpl in E, A. injection E as <- <-.
    split; [left; reflexivity|]. simpl. rewrite !plus_IZR. lra.
  - destruct d as [|f d]; [discriminate|]. destruct steps as [|s steps]; [destruct H|].
    destruct H as [(S1 & S2 & S3 & S4) H].
    assert (AF : after (s :: steps) (e :: f :: d) =
      hd 0%Z (after (s :: steps) (e :: f :: d)) :: after steps (f :: d)) by reflexivity.
    set (r := hd 0%Z (after (s :: steps) (e :: f :: d))) in *. rewrite AF in E.
    rewrite most_cons in E.
    assert (AL : along (y :: z :: order) (e :: f :: d) q =
      IZR e * q (N.to_nat y) + along (z :: order) (f :: d) q) by reflexivity.
    assert (HERE : IZR (before + e + r) * q (N.to_nat y) <= prefix + along (y :: z :: order) (e :: f :: d) q).
    { rewrite !plus_IZR. lra. }
    destruct (most (moved (back_down s) (back_up s) (before + e)) steps (z :: order) (f :: d) _)
      as [[x' w']|] eqn:M.
    + destruct (w' <=? before + e + r)%Z; injection E as <- <-.
      * split; [left; reflexivity | exact HERE].
      * apply IHorder with (q := q) (prefix := prefix + IZR e * q (N.to_nat y)) in M; auto.
        -- destruct M as [I M]. split; [right; exact I|]. lra.
        -- intros v V. apply N. right. exact V.
        -- pose proof (moved_sound (back_down s) (back_up s) (before + e) (q (N.to_nat z))
             (q (N.to_nat y)) (N z (or_intror (or_introl eq_refl))) S3 S4) as G.
           rewrite plus_IZR in G. lra.
    + injection E as <- <-. split; [left; reflexivity | exact HERE].
Qed.

Lemma along_map : forall order g q, along order (map g order) q =
  sum_over order (fun i => IZR (g (N.of_nat i)) * q i).
Proof.
  induction order as [|x order]; intros; [reflexivity|]. simpl. rewrite IHorder, N2Nat.id. reflexivity.
Qed.

Lemma get_nth : forall l x, get (array_of l) x = nth (N.to_nat x) l 0%Z.
Proof.
  intros. unfold get. destruct (pick (array_of l) x) as [v|] eqn:P.
  - apply pick_nth with (d := 0%Z) in P as [-> _]. reflexivity.
  - rewrite pick_array_of in P. apply nth_error_None in P. rewrite nth_overflow by exact P. reflexivity.
Qed.

Theorem line_sound : forall k cone order steps cost prices safe,
  forallb (well_formed k) cone = true -> is_order k order = true ->
  line_steps (map ceiling_of cone) order = Some steps ->
  length cost = k -> length prices = k -> line_price k order steps cost prices = Some safe ->
  length safe = k /\ forall q, in_cone k cone q -> dot safe q <= dot cost q.
Proof.
  intros k cone order steps cost prices safe W O S LC LP E. unfold line_price in E.
  destruct (most _ _ _ _ _) as [[x w]|] eqn:M; [|discriminate]. injection E as <-.
  assert (LA : length (collect k 0 (put x w (PositiveMap.empty Z))) = k) by apply collect_length.
  split; [rewrite add_length; lia|]. intros q Q.
  apply most_sound with (q := q) (prefix := 0) in M.
  - destruct M as [I M]. rewrite add_dot by lia.
    assert (X : (N.to_nat x < k)%nat) by (apply is_order_inputs with order; assumption).
    rewrite collect_dot.
    rewrite (sum_ext k _ (fun i => IZR (get (put x w (PositiveMap.empty Z)) (N.of_nat i)) * q i))
      by (intros; rewrite N.add_0_l; reflexivity).
    fold (product k (put x w (PositiveMap.empty Z)) q). rewrite product_put, product_empty by exact X.
    rewrite along_map, (is_order_sum k) in M by exact O.
    rewrite (sum_ext k _ (fun i => IZR (nth i cost 0%Z) * q i + (-1) * (IZR (nth i prices 0%Z) * q i)))
      in M.
    + rewrite sum_plus, sum_scale in M. rewrite !dot_sum, LC, LP. lra.
    + intros i I'. rewrite !get_nth, Nat2N.id, minus_IZR. ring.
  - apply line_steps_sound with (k := k) (cone := cone); auto. intros; apply is_order_inputs with order; auto.
  - intros y Y. apply Q. apply is_order_inputs with order; auto.
  - apply map_length.
  - destruct order; [exact I | lra].
Qed.

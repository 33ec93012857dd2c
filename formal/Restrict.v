(* Relaxation restrict: forget inputs. What is left of a private channel is a channel on the others.
   The objective does not fall if what is forgotten costs at least 0, or has no weight; a worst case
   never does, and a square does not if it does not see what is forgotten. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive.
Require Import Definitions Exponential Sums Arrays Privacy Cone Ceilings.
Import ListNotations.
Open Scope Z_scope.

Definition cut {A : Type} (d : A) (kept : list N) (l : list A) : list A :=
  let m := array_of l in
  map (fun i => match pick m i with Some a => a | None => d end) kept.

(* 0 outside of what is kept *)
Fixpoint vanishes (inside : array Z) (i : N) (l : list Z) : bool :=
  match l with
  | [] => true
  | v :: rest => ((v =? 0) || negb (get inside i =? 0)) && vanishes inside (N.succ i) rest
  end.

(* The generator on the inputs kept; no rows, where it asks about others. *)
Definition part_on (kept : list N) (g : generator) : generator :=
  match g with
  | Ratio (Constant a block protected) weights =>
      Ratio (Constant a (cut 0%N kept block) (cut false kept protected)) (cut 0 kept weights)
  | Ratio (Matrix values table) weights =>
      Ratio (Matrix values (map (cut 0%N kept) (cut [] kept table))) (cut 0 kept weights)
  | Lift lower upper p =>
      if vanishes (counts kept) 0 (entries p)
      then Lift lower upper {| entries := cut 0 kept (entries p); over := over p |}
      else Rows []
  | Rows _ | LiftOver _ _ _ => Rows []
  end.

(* Some inputs, each once. *)
Definition distinct (k : nat) (l : list N) : bool :=
  forallb (fun x => N.ltb x (N.of_nat k)) l &&
  forallb (fun c => (c =? 0) || (c =? 1)) (collect k 0 (counts l)) && negb (Nat.eqb (length l) 0).

Fixpoint costs_nothing (inside : array Z) (i : N) (w column : list Z) : bool :=
  match w, column with
  | v :: w', c :: column' =>
      (negb (get inside i =? 0) || (v =? 0) || (0 <=? c)) && costs_nothing inside (N.succ i) w' column'
  | _, _ => true
  end.

Definition aim_on (k : nat) (kept : list N) (a : objective) : option objective :=
  let inside := counts kept in
  match a with
  | Loss low high unit (Some w) =>
      if Nat.eqb (length (entries w)) k && forallb (Z.leb 0) (entries w) &&
         forallb (fun column => Nat.eqb (length column) k &&
           costs_nothing inside 0 (entries w) column) low
      then Some (Loss (map (cut 0 kept) low) (map (cut 0 kept) high) unit
        (Some {| entries := cut 0 kept (entries w); over := over w |}))
      else None
  | Loss low high unit None =>
      Some (Loss (map (cut 0 kept) low) (map (cut 0 kept) high) unit None)
  | Squares constant p vs unit =>
      if forallb (fun v => Nat.eqb (length v) k && vanishes inside 0 v) (p :: vs)
      then Some (Squares constant (cut 0 kept p) (map (cut 0 kept) vs) unit) else None
  end.

Definition restrict (kept : list N) (s : statement) : option statement :=
  if distinct (inputs s) kept && forallb (well_formed (inputs s)) (cone s) then
    match aim_on (inputs s) kept (aim s) with
    | Some a => Some {| inputs := length kept; cone := map (part_on kept) (cone s);
                   limits := []; aim := a |}
    | None => None
    end
  else None.

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

(* The input that number i of those kept is. *)
Definition kept_at (kept : list N) (i : nat) : nat := N.to_nat (nth i kept 0%N).

Lemma cut_length : forall (A : Type) (d : A) kept l, length (cut d kept l) = length kept.
Proof. intros. unfold cut. apply map_length. Qed.

Lemma cut_nth : forall (A : Type) (d : A) kept l i, (i < length kept)%nat ->
  nth i (cut d kept l) d = nth (kept_at kept i) l d.
Proof.
  intros A d kept l i H. unfold cut. cbv zeta. set (f := fun n : N => _).
  rewrite (nth_indep _ d (f 0%N)) by (rewrite map_length; exact H). rewrite map_nth. unfold f, kept_at.
  rewrite pick_array_of. destruct (nth_error l (N.to_nat (nth i kept 0%N))) as [a|] eqn:E.
  - symmetry. apply nth_error_nth, E.
  - symmetry. apply nth_overflow, nth_error_None, E.
Qed.

Lemma kept_inside : forall k kept i, distinct k kept = true -> (i < length kept)%nat ->
  (kept_at kept i < k)%nat.
Proof.
  intros k kept i H I. apply andb_true_iff in H as [H _]. apply andb_true_iff in H as [H _].
  rewrite forallb_forall in H. specialize (H _ (nth_In kept 0%N I)). apply N.ltb_lt in H.
  unfold kept_at. lia.
Qed.

Lemma sum_over_nth : forall l f, sum_over l f = sum (length l) (fun i => f (kept_at l i)).
Proof.
  induction l as [|x l]; intros; [reflexivity|]. cbn [length]. rewrite sum_first. simpl.
  rewrite IHl. reflexivity.
Qed.

Lemma counts_01 : forall k kept x, distinct k kept = true -> (x < k)%nat ->
  get (counts kept) (N.of_nat x) = 0%Z \/ get (counts kept) (N.of_nat x) = 1%Z.
Proof.
  intros k kept x H X. apply andb_true_iff in H as [H _]. apply andb_true_iff in H as [_ H].
  rewrite forallb_forall in H.
  assert (J : In (nth x (collect k 0 (counts kept)) 0%Z) (collect k 0 (counts kept))).
  { apply nth_In. rewrite collect_length. exact X. }
  apply H in J. rewrite nth_collect, N.add_0_l in J by exact X.
  apply orb_true_iff in J as [J | J]; apply Z.eqb_eq in J; auto.
Qed.

(* A sum over what is kept; equal to that over all, where the rest is 0, and not more where >= 0. *)
Lemma kept_sum : forall k kept f, distinct k kept = true ->
  sum (length kept) (fun i => f (kept_at kept i)) =
  sum k (fun x => IZR (get (counts kept) (N.of_nat x)) * f x).
Proof.
  intros k kept f H. rewrite <- sum_over_nth. rewrite (sum_over_counts k); [reflexivity|].
  intros x X. apply andb_true_iff in H as [H _]. apply andb_true_iff in H as [H _].
  rewrite forallb_forall in H. specialize (H x X). apply N.ltb_lt in H. lia.
Qed.

Lemma kept_sum_eq : forall k kept f, distinct k kept = true ->
  (forall x, (x < k)%nat -> get (counts kept) (N.of_nat x) = 0%Z -> f x = 0) ->
  sum (length kept) (fun i => f (kept_at kept i)) = sum k f.
Proof.
  intros k kept f H Z0. rewrite (kept_sum k) by exact H. apply sum_ext. intros x X.
  destruct (counts_01 k kept x H X) as [E | E]; rewrite E; [rewrite (Z0 x X E)|]; lra.
Qed.

Lemma kept_sum_le : forall k kept f, distinct k kept = true ->
  (forall x, (x < k)%nat -> get (counts kept) (N.of_nat x) = 0%Z -> 0 <= f x) ->
  sum (length kept) (fun i => f (kept_at kept i)) <= sum k f.
Proof.
  intros k kept f H Z0. rewrite (kept_sum k) by exact H. apply sum_le. intros x X.
  destruct (counts_01 k kept x H X) as [E | E]; rewrite E; [specialize (Z0 x X E)|]; lra.
Qed.

Lemma kept_once : forall k kept i j, distinct k kept = true -> (i < length kept)%nat ->
  (j < length kept)%nat -> i <> j -> kept_at kept i <> kept_at kept j.
Proof.
  intros k kept i j H I J NE E.
  pose proof (kept_sum k kept (fun x => if Nat.eqb x (kept_at kept j) then 1 else 0) H) as S.
  rewrite (sum_ext k _ (fun x => (if Nat.eqb x (kept_at kept j) then 1 else 0)
    * IZR (get (counts kept) (N.of_nat x)))) in S by (intros; ring).
  rewrite sum_at in S by (apply kept_inside; assumption). rewrite Rmult_1_l in S.
  assert (C := counts_01 k kept _ H (kept_inside k kept j H J)).
  assert (T : 2 <= sum (length kept) (fun i => if Nat.eqb (kept_at kept i) (kept_at kept j) then 1 else 0)).
  { apply Rle_trans with (sum (length kept) (fun m =>
      (if Nat.eqb m i then 1 else 0) * 1 + (if Nat.eqb m j then 1 else 0) * 1)).
    - rewrite sum_plus, !sum_at by assumption. lra.
    - apply sum_le. intros m M. destruct (Nat.eqb_spec m i) as [A | A];
        destruct (Nat.eqb_spec m j) as [B | B]; [congruence | | |].
      + rewrite A, E, Nat.eqb_refl. lra.
      + rewrite B, Nat.eqb_refl. lra.
      + destruct (Nat.eqb _ _); lra. }
  destruct C as [C | C]; rewrite C in S; lra.
Qed.

Lemma vanishes_nth : forall inside l i x, vanishes inside i l = true ->
  get inside (i + N.of_nat x) = 0%Z -> nth x l 0%Z = 0%Z.
Proof.
  induction l as [|v l]; intros i x H G; [destruct x; reflexivity|]. simpl in H.
  apply andb_true_iff in H as [H H']. destruct x.
  - rewrite N.add_0_r in G. rewrite G in H. simpl in *. rewrite orb_false_r in H. apply Z.eqb_eq, H.
  - simpl. apply (IHl (N.succ i) x H'). rewrite <- G. f_equal. lia.
Qed.

Lemma costs_nothing_nth : forall inside w c i x, costs_nothing inside i w c = true ->
  length w = length c -> get inside (i + N.of_nat x) = 0%Z ->
  nth x w 0%Z = 0%Z \/ (0 <= nth x c 0)%Z.
Proof.
  induction w as [|v w]; intros c i x H L G; [left; destruct x; reflexivity|].
  destruct c as [|e c]; [discriminate|]. simpl in H. apply andb_true_iff in H as [H H']. destruct x.
  - rewrite N.add_0_r in G. rewrite G in H. simpl in *. apply orb_true_iff in H as [H | H].
    + left. apply Z.eqb_eq, H.
    + right. apply Z.leb_le, H.
  - simpl. apply (IHw c (N.succ i) x H'); [injection L; auto|]. rewrite <- G. f_equal. lia.
Qed.

Lemma part_on_keeps : forall k kept g q, distinct k kept = true -> well_formed k g = true ->
  keeps k g q -> keeps (length kept) (part_on kept g) (fun i => q (kept_at kept i)).
Proof.
  intros k kept g q D W K. assert (IN := fun i => kept_inside k kept i D).
  destruct g as [[a block protected | values table] weights | lower upper p | rows | lower upper s];
    cbn [part_on].
  - intros x z b X Z0 E. unfold at_pair in E. rewrite !cut_nth in E by assumption.
    rewrite !cut_nth by assumption. apply (K _ _ b (IN x X) (IN z Z0)). unfold at_pair.
    destruct (nth (kept_at kept x) protected false && _) eqn:C; [|discriminate].
    simpl in E. destruct (Nat.eqb_spec x z) as [-> | NE]; [discriminate|].
    replace (Nat.eqb (kept_at kept x) (kept_at kept z)) with false; [exact E|].
    symmetry. apply Nat.eqb_neq. apply (kept_once k); assumption.
  - intros x z b X Z0 E. rewrite !cut_nth by assumption. apply (K _ _ b (IN x X) (IN z Z0)).
    unfold at_pair in *. destruct (Nat.eqb_spec x z) as [-> | NE]; [discriminate|].
    replace (Nat.eqb (kept_at kept x) (kept_at kept z)) with false
      by (symmetry; apply Nat.eqb_neq; apply (kept_once k); assumption).
    rewrite (nth_indep _ [] (cut 0%N kept [])) in E by (rewrite map_length, cut_length; exact X).
    rewrite map_nth, cut_nth, cut_nth in E by assumption. exact E.
  - destruct (vanishes (counts kept) 0 (entries p)) eqn:V; [|intros row []].
    intros x X. destruct (K _ (IN x X)) as [U L].
    assert (S : sum (length kept) (fun z =>
      entry {| entries := cut 0%Z kept (entries p); over := over p |} z * q (kept_at kept z)) =
      sum k (fun z => entry p z * q z)).
    { rewrite <- (kept_sum_eq k kept (fun z => entry p z * q z) D).
      - apply sum_ext. intros i I. unfold entry. cbn [entries over]. rewrite cut_nth by exact I. reflexivity.
      - intros z Z0 G. unfold entry. rewrite (vanishes_nth _ _ 0%N z V) by (rewrite N.add_0_l; exact G).
        unfold Rdiv. ring. }
    rewrite S. split; intros a E; [apply U | apply L]; exact E.
  - intros row [].
  - intros row [].
Qed.

Lemma kept_channel : forall k kept n C, distinct k kept = true -> is_channel k n C ->
  is_channel (length kept) n (fun i y => C (kept_at kept i) y).
Proof.
  intros k kept n C D [N S]. split.
  - intros x y X Y. apply N; [apply (kept_inside k); assumption | exact Y].
  - intros x X. apply S. apply (kept_inside k); assumption.
Qed.

Lemma kept_private : forall k kept n cone C, distinct k kept = true ->
  forallb (well_formed k) cone = true -> is_private k n cone C ->
  is_private (length kept) n (map (part_on kept) cone) (fun i y => C (kept_at kept i) y).
Proof.
  intros k kept n cone C D W P g y I Y. apply in_map_iff in I as (h & <- & I).
  rewrite forallb_forall in W.
  apply (part_on_keeps k kept h (fun x => C x y) D (W h I)). exact (P h y I Y).
Qed.

Lemma cut_cost : forall kept low unit i j, (i < length kept)%nat -> (j < length low)%nat ->
  cost_of (map (cut 0%Z kept) low) unit i j = cost_of low unit (kept_at kept i) j.
Proof.
  intros kept low unit i j I J. unfold cost_of.
  rewrite (nth_indep _ [] (cut 0%Z kept [])) by (rewrite map_length; exact J).
  rewrite map_nth, cut_nth by exact I. reflexivity.
Qed.

Theorem restrict_sound : forall kept s s' b, restrict kept s = Some s' -> is_bound s' b -> is_bound s b.
Proof.
  intros kept s s' b E H. unfold restrict in E. set (k := inputs s) in *.
  destruct (distinct k kept && forallb (well_formed k) (cone s)) eqn:C; [|discriminate].
  apply andb_true_iff in C as [D W].
  destruct (aim_on k kept (aim s)) as [a|] eqn:A; [|discriminate]. injection E as <-.
  unfold is_bound in *. cbn [inputs cone aim] in H. fold k. intros n C CC CP _.
  specialize (H n _ (kept_channel k kept n C D CC) (kept_private k kept n _ C D W CP)).
  specialize (H (fun g (I : In g []) => match I with end)).
  assert (IN := fun i => kept_inside k kept i D).
  destruct (aim s) as [low high unit [w|] | constant p vs unit]; cbn [aim_on] in A.
  - destruct (_ && _ && _) eqn:OK in A; [|discriminate]. injection A as <-.
    apply andb_true_iff in OK as [OK LL]. apply andb_true_iff in OK as [LW PW]. apply Nat.eqb_eq in LW.
    rewrite forallb_forall in LL. intros D' answer CD CA.
    specialize (H (fun i j => D' (kept_at kept i) j) answer). rewrite map_length in H.
    apply Rle_trans with (mean_loss (length kept) n
      (entry {| entries := cut 0%Z kept (entries w); over := over w |})
      (fun i j => D' (kept_at kept i) j) answer (fun i y => C (kept_at kept i) y)).
    { apply H; [|exact CA]. intros x j X J. rewrite cut_cost by assumption. apply CD; auto. }
    unfold mean_loss. set (f := fun x => entry w x * loss_at n D' answer C x).
    apply Rle_trans with (sum (length kept) (fun i => f (kept_at kept i))).
    { right. apply sum_ext. intros i I. unfold f, entry. cbn [entries over]. rewrite cut_nth by exact I.
      reflexivity. }
    apply kept_sum_le; [exact D|]. intros x X G. unfold f, loss_at. rewrite <- sum_scale.
    apply sum_nonneg. intros y Y.
    assert (I : In (nth (answer y) low []) low) by (apply nth_In, CA, Y).
    specialize (LL _ I). apply andb_true_iff in LL as [LC CN]. apply Nat.eqb_eq in LC.
    destruct (costs_nothing_nth _ _ _ 0%N x CN) as [Z0 | P]; [lia | rewrite N.add_0_l; exact G | |].
    + unfold entry. rewrite Z0. unfold Rdiv. rewrite !Rmult_0_l. lra.
    + apply Rmult_le_pos; [apply entry_nonneg, PW|]. apply Rmult_le_pos; [|apply CC; assumption].
      apply Rle_trans with (2 := CD x (answer y) X (CA y Y)). unfold cost_of, Rdiv.
      apply Rmult_le_pos; [apply IZR_le, P | left; apply Rinv_0_lt_compat, IZR_lt; reflexivity].
  - injection A as <-. intros D' answer CD CA.
    specialize (H (fun i j => D' (kept_at kept i) j) answer). rewrite map_length in H.
    apply Rle_trans with (worst_loss (length kept) n (fun i j => D' (kept_at kept i) j) answer
      (fun i y => C (kept_at kept i) y)).
    { apply H; [|exact CA]. intros x j X J. rewrite cut_cost by assumption. apply CD; auto. }
    unfold worst_loss.
    assert (P : (0 < length kept)%nat).
    { apply andb_true_iff in D as [_ D]. destruct kept; [discriminate | simpl; lia]. }
    assert (G : forall m g, (0 < m)%nat -> (forall i, (i < m)%nat -> g i <= largest k (loss_at n D' answer C)) ->
      largest m g <= largest k (loss_at n D' answer C)).
    { induction m; intros g M G; [lia|]. destruct m; [apply G; lia|].
      change (Rmax (largest (S m) g) (g (S m)) <= largest k (loss_at n D' answer C)).
      apply Rmax_lub; [apply IHm|]; auto; lia. }
    apply G; [exact P|]. intros i I.
    apply (largest_ge k (loss_at n D' answer C) (kept_at kept i)). apply IN, I.
  - destruct (forallb _ (p :: vs)) eqn:OK in A; [|discriminate]. injection A as <-.
    rewrite forallb_forall in OK.
    apply Rle_trans with (1 := H). right. f_equal. apply sum_ext. intros y Y.
    assert (G : forall v, In v (p :: vs) -> inner_of (length kept) (cut 0%Z kept v) unit
        (fun i => C (kept_at kept i) y) = inner_of k v unit (fun x => C x y)).
    { intros v I. specialize (OK v I). apply andb_true_iff in OK as [_ V]. unfold inner_of.
      rewrite <- (kept_sum_eq k kept (fun x => IZR (nth x v 0%Z) / IZR (Zpos unit) * C x y) D).
      - apply sum_ext. intros i J. rewrite cut_nth by exact J. reflexivity.
      - intros x X Z0. rewrite (vanishes_nth _ _ 0%N x V) by (rewrite N.add_0_l; exact Z0).
        unfold Rdiv. ring. }
    rewrite (G p (or_introl eq_refl)). f_equal.
    assert (G' := fun v I => G v (or_intror I)). clear - G'. induction vs as [|v vs]; [reflexivity|].
    cbn [map sum_of_squares]. rewrite (G' v (or_introl eq_refl)), IHvs; [reflexivity|].
    intros w I. apply G'. right. exact I.
Qed.

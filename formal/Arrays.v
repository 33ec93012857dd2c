(* Lists with access in logarithmic time, and sparse vectors of integers. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive.
Require Import Definitions Sums.
Import ListNotations.

Definition array (A : Type) := PositiveMap.t A.

Fixpoint store {A : Type} (l : list A) (n : positive) (m : array A) : array A :=
  match l with
  | [] => m
  | a :: rest => store rest (Pos.succ n) (PositiveMap.add n a m)
  end.

Definition array_of {A : Type} (l : list A) : array A := store l 1 (PositiveMap.empty A).

Definition pick {A : Type} (m : array A) (i : N) : option A := PositiveMap.find (N.succ_pos i) m.

Definition get (m : array Z) (i : N) : Z := match pick m i with Some v => v | None => 0 end.

Definition put (i : N) (v : Z) (m : array Z) : array Z :=
  PositiveMap.add (N.succ_pos i) (get m i + v)%Z m.

Fixpoint collect (k : nat) (i : N) (m : array Z) : list Z :=
  match k with
  | O => []
  | S k' => get m i :: collect k' (N.succ i) m
  end.

(* ---- proofs ----------------------------------------------------------------------------------- *)

Lemma store_find : forall (A : Type) (l : list A) n m p,
  PositiveMap.find p (store l n m) =
  if (n <=? p)%positive && (Pos.to_nat p - Pos.to_nat n <? length l)%nat
  then nth_error l (Pos.to_nat p - Pos.to_nat n)
  else PositiveMap.find p m.
Proof.
  induction l; intros n m p; simpl.
  - rewrite andb_false_r. reflexivity.
  - rewrite IHl. destruct (Pos.leb_spec n p) as [L | L]; simpl.
    + destruct (Pos.eq_dec n p) as [<- | N].
      * replace (Pos.succ n <=? n)%positive with false by (symmetry; apply Pos.leb_gt; lia).
        rewrite Nat.sub_diag. simpl. apply PositiveMap.gss.
      * replace (Pos.succ n <=? p)%positive with true by (symmetry; apply Pos.leb_le; lia).
        rewrite Pos2Nat.inj_succ.
        replace (Pos.to_nat p - Pos.to_nat n)%nat with (S (Pos.to_nat p - S (Pos.to_nat n))) by lia.
        simpl. rewrite PositiveMap.gso by congruence. reflexivity.
    + replace (Pos.succ n <=? p)%positive with false by (symmetry; apply Pos.leb_gt; lia).
      simpl. apply PositiveMap.gso. lia.
Qed.

Lemma pick_array_of : forall (A : Type) (l : list A) i,
  pick (array_of l) i = nth_error l (N.to_nat i).
Proof.
  intros. unfold pick, array_of. rewrite store_find.
  replace (1 <=? N.succ_pos i)%positive with true by (symmetry; apply Pos.leb_le; lia).
  replace (Pos.to_nat (N.succ_pos i) - Pos.to_nat 1)%nat with (N.to_nat i) by (destruct i; simpl; lia).
  simpl. destruct (Nat.ltb_spec (N.to_nat i) (length l)) as [L | L]; [reflexivity|].
  rewrite PositiveMap.gempty. symmetry. apply nth_error_None, L.
Qed.

Lemma pick_nth : forall (A : Type) (l : list A) i v d, pick (array_of l) i = Some v ->
  nth (N.to_nat i) l d = v /\ (N.to_nat i < length l)%nat.
Proof.
  intros A l i v d H. rewrite pick_array_of in H. split.
  - apply nth_error_nth, H.
  - apply nth_error_Some. congruence.
Qed.

Lemma get_put : forall m i v j,
  get (put i v m) j = if N.eqb j i then (get m i + v)%Z else get m j.
Proof.
  intros. unfold put, get at 1, pick. destruct (N.eqb_spec j i) as [-> | N].
  - rewrite PositiveMap.gss. reflexivity.
  - rewrite PositiveMap.gso; [reflexivity|]. intro E. apply N. destruct j, i; simpl in E; lia.
Qed.

Open Scope R_scope.

(* The product of a sparse vector with a column of t entries. *)
Definition product (t : nat) (m : array Z) (q : nat -> R) : R :=
  sum t (fun i => IZR (get m (N.of_nat i)) * q i).

Lemma product_put : forall t m i v q, (N.to_nat i < t)%nat ->
  product t (put i v m) q = product t m q + IZR v * q (N.to_nat i).
Proof.
  intros. unfold product.
  rewrite <- (sum_at t (N.to_nat i) (IZR v) q) by assumption. rewrite <- sum_plus.
  apply sum_ext. intros j J. rewrite get_put. destruct (Nat.eqb_spec j (N.to_nat i)) as [E | E].
  - subst j. rewrite N2Nat.id, N.eqb_refl, plus_IZR. lra.
  - replace (N.eqb (N.of_nat j) i) with false; [lra|].
    symmetry. apply N.eqb_neq. intro F. apply E. rewrite <- F. lia.
Qed.

Lemma product_empty : forall t q, product t (PositiveMap.empty Z) q = 0.
Proof.
  intros. unfold product. rewrite <- (sum_zero t). apply sum_ext. intros.
  unfold get, pick. rewrite PositiveMap.gempty. lra.
Qed.

Lemma collect_length : forall k i m, length (collect k i m) = k.
Proof. induction k; simpl; intros; [reflexivity | rewrite IHk; reflexivity]. Qed.

Lemma collect_dot : forall k i m q,
  dot (collect k i m) q = sum k (fun j => IZR (get m (i + N.of_nat j)) * q j).
Proof.
  induction k; intros; [reflexivity|]. cbn [collect dot]. rewrite sum_first, IHk.
  rewrite N.add_0_r. f_equal. apply sum_ext. intros j J.
  replace (i + N.of_nat (S j))%N with (N.succ i + N.of_nat j)%N by lia. reflexivity.
Qed.

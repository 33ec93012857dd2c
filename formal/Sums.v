(* Sums over n numbers, and products of lists of integers with a column. *)

From Coq Require Import Reals List ZArith Lra Lia Bool.
Require Import Definitions.
Import ListNotations.
Open Scope R_scope.

(* Where `injection` would compute a. *)
Lemma some_eq : forall (A : Type) (a b : A), Some a = Some b -> a = b.
Proof. intros A a b E. injection E as E. exact E. Qed.

Lemma sum_ext : forall n f g, (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n; intros; simpl; [reflexivity|]. rewrite (IHn f g), H by (auto; lia). reflexivity. Qed.

Lemma sum_le : forall n f g, (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n; intros; simpl; [lra|]. assert (f n <= g n) by (apply H; lia).
  assert (sum n f <= sum n g) by (apply IHn; intros; apply H; lia). lra.
Qed.

Lemma sum_nonneg : forall n f, (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof.
  induction n; intros; simpl; [lra|]. assert (0 <= f n) by (apply H; lia).
  assert (0 <= sum n f) by (apply IHn; intros; apply H; lia). lra.
Qed.

Lemma sum_plus : forall n f g, sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n; intros; simpl; [lra | rewrite IHn; lra]. Qed.

Lemma sum_scale : forall n a f, sum n (fun i => a * f i) = a * sum n f.
Proof. induction n; intros; simpl; [lra | rewrite IHn; lra]. Qed.

Lemma sum_zero : forall n, sum n (fun _ => 0) = 0.
Proof. induction n; simpl; [reflexivity | rewrite IHn; lra]. Qed.

Lemma sum_swap : forall n m f,
  sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n; intros; simpl; [rewrite sum_zero; reflexivity|].
  rewrite IHn, <- sum_plus. reflexivity.
Qed.

Lemma sum_first : forall n f, sum (S n) f = f O + sum n (fun i => f (S i)).
Proof. induction n; intros; simpl; [lra|]. simpl in IHn. rewrite IHn. lra. Qed.

Lemma sum_split : forall n m f, sum (n + m) f = sum n f + sum m (fun i => f (n + i)%nat).
Proof.
  intros n m f. induction m; simpl.
  - rewrite Nat.add_0_r. lra.
  - rewrite Nat.add_succ_r. simpl. rewrite IHm. lra.
Qed.

Lemma sum_at : forall n i v f, (i < n)%nat ->
  sum n (fun j => (if Nat.eqb j i then v else 0) * f j) = v * f i.
Proof.
  induction n; intros i v f H; [lia|]. simpl.
  destruct (Nat.eq_dec i n) as [-> | N].
  - rewrite Nat.eqb_refl.
    rewrite (sum_ext n _ (fun _ => 0)); [rewrite sum_zero; lra|].
    intros j J. replace (Nat.eqb j n) with false; [lra|]. symmetry. apply Nat.eqb_neq. lia.
  - rewrite IHn by lia. replace (Nat.eqb n i) with false; [lra|]. symmetry. apply Nat.eqb_neq. lia.
Qed.

(* A weighted mean of numbers is not above the largest of them. *)
Lemma largest_ge : forall n f i, (i < n)%nat -> f i <= largest n f.
Proof.
  induction n; intros f i H; [lia|]. destruct n.
  - replace i with O by lia. simpl. lra.
  - change (f i <= Rmax (largest (S n) f) (f (S n))). destruct (Nat.eq_dec i (S n)) as [-> | N].
    + apply Rmax_r.
    + apply Rle_trans with (2 := Rmax_l _ _). apply IHn. lia.
Qed.

(* a . q, for a list of integers *)
Fixpoint dot (a : list Z) (q : nat -> R) : R :=
  match a with
  | [] => 0
  | v :: rest => IZR v * q O + dot rest (fun i => q (S i))
  end.

Lemma dot_sum : forall a q, dot a q = sum (length a) (fun i => IZR (nth i a 0%Z) * q i).
Proof.
  induction a; intros; [reflexivity|]. cbn [length]. rewrite sum_first. simpl. rewrite IHa. reflexivity.
Qed.

Lemma dot_ext : forall a p q, (forall i, (i < length a)%nat -> p i = q i) -> dot a p = dot a q.
Proof.
  intros. rewrite !dot_sum. apply sum_ext. intros. rewrite H by assumption. reflexivity.
Qed.

Lemma nth_default : forall (A : Type) n (l : list A) d, (length l <= n)%nat -> nth n l d = d.
Proof. intros. apply nth_overflow. assumption. Qed.

(* total columns = the sums of rows *)
Definition add (a b : list Z) : list Z := map (fun p => (fst p + snd p)%Z) (combine a b).

Lemma add_length : forall a b, length a = length b -> length (add a b) = length a.
Proof. intros. unfold add. rewrite map_length, combine_length. lia. Qed.

Lemma add_nth : forall a b i, length a = length b ->
  nth i (add a b) 0%Z = (nth i a 0 + nth i b 0)%Z.
Proof.
  induction a; destruct b; intros i L; try discriminate; [destruct i; reflexivity|].
  destruct i; [reflexivity|]. simpl. apply IHa. injection L. auto.
Qed.

Lemma add_dot : forall a b q, length a = length b -> dot (add a b) q = dot a q + dot b q.
Proof.
  induction a; destruct b; intros q L; try discriminate; [simpl; lra|].
  injection L as L. change (add (a :: a0) (z :: b)) with ((a + z)%Z :: add a0 b).
  cbn [dot]. rewrite (IHa b _ L), plus_IZR. lra.
Qed.

(* What is stated: channels, privacy, losses, over the real numbers. No proofs, and nothing that a
   proof could hide. Inputs are numbered x < k, outputs y < n. *)

From Coq Require Import Reals List ZArith Bool.
Import ListNotations.
Open Scope R_scope.

(* sum n f = f 0 + ... + f (n - 1) *)
Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with
  | O => 0
  | S m => sum m f + f m
  end.

(* largest n f = the largest of f 0, ..., f (n - 1), for n > 0 *)
Fixpoint largest (n : nat) (f : nat -> R) : R :=
  match n with
  | O => 0
  | S O => f O
  | S m => Rmax (largest m f) (f m)
  end.

(* ---- channels --------------------------------------------------------------------------------- *)

(* C x y is the probability of the output y at the input x. *)
Definition is_channel (k n : nat) (C : nat -> nat -> R) : Prop :=
  (forall x y, (x < k)%nat -> (y < n)%nat -> 0 <= C x y) /\
  (forall x, (x < k)%nat -> sum n (fun y => C x y) = 1).

(* ---- notions of privacy ----------------------------------------------------------------------- *)

(* Local differential privacy. *)
Definition is_ldp (k n : nat) (epsilon : R) (C : nat -> nat -> R) : Prop :=
  forall x z y, (x < k)%nat -> (z < k)%nat -> (y < n)%nat -> C x y <= exp epsilon * C z y.

(* The same between inputs of one block only, and for protected inputs x only. *)
Definition is_block_ldp (k n : nat) (epsilon : R) (same : nat -> nat -> Prop)
    (protected : nat -> Prop) (C : nat -> nat -> R) : Prop :=
  forall x z y, (x < k)%nat -> (z < k)%nat -> (y < n)%nat ->
    same x z -> protected x -> C x y <= exp epsilon * C z y.

(* Metric privacy: the bound on a ratio grows with a distance. *)
Definition is_metric_private (k n : nat) (distance : nat -> nat -> R) (C : nat -> nat -> R) : Prop :=
  forall x z y, (x < k)%nat -> (z < k)%nat -> (y < n)%nat ->
    C x y <= exp (distance x z) * C z y.

(* P(y), and P(x | y), of a prior p. *)
Definition mass (k : nat) (p : nat -> R) (C : nat -> nat -> R) (y : nat) : R :=
  sum k (fun x => p x * C x y).

Definition posterior (k : nat) (p : nat -> R) (C : nat -> nat -> R) (x y : nat) : R :=
  p x * C x y / mass k p C y.

(* Local information privacy: P(x | y) / P(x) within e^-lower and e^upper at every output that
   occurs. LIP at epsilon has lower = upper = epsilon; pointwise maximal leakage has upper alone. *)
Definition is_lip (k n : nat) (p : nat -> R) (lower upper : R) (C : nat -> nat -> R) : Prop :=
  forall x y, (x < k)%nat -> (y < n)%nat -> 0 < mass k p C y ->
    exp (- lower) <= posterior k p C x y / p x <= exp upper.

Definition is_pml (k n : nat) (p : nat -> R) (epsilon : R) (C : nat -> nat -> R) : Prop :=
  forall x y, (x < k)%nat -> (y < n)%nat -> 0 < mass k p C y ->
    posterior k p C x y / p x <= exp epsilon.

(* ---- losses ----------------------------------------------------------------------------------- *)

(* D x j is what the answer j costs at the input x; answer y is what is read from the output y. *)
Definition loss_at (n : nat) (D : nat -> nat -> R) (answer : nat -> nat) (C : nat -> nat -> R)
    (x : nat) : R :=
  sum n (fun y => D x (answer y) * C x y).

(* Expected over weights w, a prior; and the worst case over inputs. *)
Definition mean_loss (k n : nat) (w : nat -> R) (D : nat -> nat -> R) (answer : nat -> nat)
    (C : nat -> nat -> R) : R :=
  sum k (fun x => w x * loss_at n D answer C x).

Definition worst_loss (k n : nat) (D : nat -> nat -> R) (answer : nat -> nat)
    (C : nat -> nat -> R) : R :=
  largest k (loss_at n D answer C).

(* The mean squared error of an estimate of f of the input: an output y is read as the number s y. *)
Definition squared_error (k n : nat) (p f : nat -> R) (s : nat -> R) (C : nat -> nat -> R) : R :=
  sum k (fun x => p x * sum n (fun y => (f x - s y) * (f x - s y) * C x y)).

(* ---- statements, in integers ------------------------------------------------------------------ *)

Record fraction := { num : Z; den : positive }.

Definition real (a : fraction) : R := IZR (num a) / IZR (Zpos (den a)).

(* The number factor * sqrt square. A rational exponent has square = 1. *)
Record exponent := { factor : fraction; square : fraction }.

Definition size (a : exponent) : R := real (factor a) * sqrt (real (square a)).

(* Integers over one denominator. *)
Record vector := { entries : list Z; over : positive }.

Definition entry (v : vector) (x : nat) : R := IZR (nth x (entries v) 0%Z) / IZR (Zpos (over v)).

Inductive exponents :=
  (* one exponent, for every x that is protected, against every z of its block *)
  | Constant (a : exponent) (block : list N) (protected : list bool)
  (* the exponent of x against z is number table_xz - 1 of a list; 0 bounds nothing *)
  | Matrix (values : list exponent) (table : list (list N)).

(* One of a user's own: e^-a left . q <= right . q. Sides list (input, coefficient >= 0). *)
Record listed_row := {
  left : list (N * fraction); exponent_of : exponent; right : list (N * fraction) }.

(* Sets of priors, all integers over one denominator: those within a distance of total variation of a
   center, and those between bounds on each entry. *)
Inductive prior_set :=
  | Ball (center : vector) (radius : Z)
  | Box (low high : list Z) (unit : positive).

Definition in_set (k : nat) (s : prior_set) (p : nat -> R) : Prop :=
  (forall x, (x < k)%nat -> 0 <= p x) /\ sum k p = 1 /\
  match s with
  | Ball c r => sum k (fun x => Rabs (p x - entry c x)) / 2 <= IZR r / IZR (Zpos (over c))
  | Box low high unit => forall x, (x < k)%nat ->
      IZR (nth x low 0%Z) / IZR (Zpos unit) <= p x <= IZR (nth x high 0%Z) / IZR (Zpos unit)
  end.

Inductive generator :=
  (* w_x q_x <= e^a_xz w_z q_z; the weights w are a prior, or all 1 *)
  | Ratio (e : exponents) (weights : list Z)
  (* e^-lower p . q <= q_x <= e^upper p . q *)
  | Lift (lower upper : option exponent) (prior : vector)
  | Rows (rows : list listed_row)
  (* a lift at every prior of a set *)
  | LiftOver (lower upper : option exponent) (priors : prior_set).

(* The exponent that bounds the ratio of x to z, if one does. *)
Definition at_pair (e : exponents) (x z : nat) : option R :=
  match e with
  | Constant a block protected =>
      if nth x protected false && N.eqb (nth x block 0%N) (nth z block 0%N) && negb (Nat.eqb x z)
      then Some (size a) else None
  | Matrix values table =>
      if Nat.eqb x z then None
      else match nth z (nth x table []) 0%N with
           | 0%N => None
           | n => option_map size (nth_error values (N.to_nat (N.pred n)))
           end
  end.

Fixpoint sparse (row : list (N * fraction)) (q : nat -> R) : R :=
  match row with
  | [] => 0
  | (x, c) :: rest => real c * q (N.to_nat x) + sparse rest q
  end.

(* A column q keeps all rows of a generator. *)
Definition keeps_lift (k : nat) (lower upper : option exponent) (p q : nat -> R) : Prop :=
  forall x, (x < k)%nat ->
    (forall a, upper = Some a -> q x <= exp (size a) * sum k (fun z => p z * q z)) /\
    (forall a, lower = Some a -> exp (- size a) * sum k (fun z => p z * q z) <= q x).

Definition keeps (k : nat) (g : generator) (q : nat -> R) : Prop :=
  match g with
  | Ratio e weights =>
      forall x z a, (x < k)%nat -> (z < k)%nat -> at_pair e x z = Some a ->
        IZR (nth x weights 0%Z) * q x <= exp a * (IZR (nth z weights 0%Z) * q z)
  | Lift lower upper p => keeps_lift k lower upper (entry p) q
  | LiftOver lower upper s => forall p, in_set k s p -> keeps_lift k lower upper p q
  | Rows rows =>
      forall row, In row rows ->
        exp (- size (exponent_of row)) * sparse (left row) q <= sparse (right row) q
  end.

Definition is_private (k n : nat) (cone : list generator) (C : nat -> nat -> R) : Prop :=
  forall g y, In g cone -> (y < n)%nat -> keeps k g (fun x => C x y).

(* A limit on the channel as a whole: Sum_y max_j A_j . q_y <= e^growth limit, with A_j . q =
   e^-a left . q - right . q. Maximal leakage has the parts q_x and the limit 1; an approximate
   notion has 0 and a row, and the limit delta. *)
Record gauge := { parts : list listed_row; limit : fraction; growth : exponent }.

Definition part_value (row : listed_row) (q : nat -> R) : R :=
  exp (- size (exponent_of row)) * sparse (left row) q - sparse (right row) q.

Fixpoint largest_part (rows : list listed_row) (q : nat -> R) : R :=
  match rows with
  | [] => 0
  | [row] => part_value row q
  | row :: rest => Rmax (part_value row q) (largest_part rest q)
  end.

Definition is_limited (n : nat) (limits : list gauge) (C : nat -> nat -> R) : Prop :=
  forall g, In g limits ->
    sum n (fun y => largest_part (parts g) (fun x => C x y))
      <= exp (size (growth g)) * real (limit g).

Inductive objective :=
  (* columns of a table of costs, one an answer, over one denominator: real costs are between low
     and high, which differ where costs are irrational; weights None is the worst case *)
  | Loss (low high : list (list Z)) (unit : positive) (weights : option vector)
  (* constant - Sum_y Sum_j (v_j . q_y)^2 / (p . q_y): p and all v_j over one denominator *)
  | Squares (constant : fraction) (p : list Z) (vs : list (list Z)) (unit : positive).

Definition cost_of (table : list (list Z)) (unit : positive) (x j : nat) : R :=
  IZR (nth x (nth j table []) 0%Z) / IZR (Zpos unit).

Definition inner_of (k : nat) (v : list Z) (unit : positive) (q : nat -> R) : R :=
  sum k (fun x => IZR (nth x v 0%Z) / IZR (Zpos unit) * q x).

Fixpoint sum_of_squares (k : nat) (vs : list (list Z)) (unit : positive) (q : nat -> R) : R :=
  match vs with
  | [] => 0
  | v :: rest => inner_of k v unit q * inner_of k v unit q + sum_of_squares k rest unit q
  end.

Record statement := {
  inputs : nat; cone : list generator; limits : list gauge; aim : objective }.

(* No channel that is private has an objective below the number b: whatever the number of outputs,
   the answers that are read from them, and the real costs above the table. *)
Definition is_bound (s : statement) (b : R) : Prop :=
  let k := inputs s in
  forall n C, is_channel k n C -> is_private k n (cone s) C -> is_limited n (limits s) C ->
  match aim s with
  | Loss low _ unit weights =>
      forall D answer,
      (forall x j, (x < k)%nat -> (j < length low)%nat -> cost_of low unit x j <= D x j) ->
      (forall y, (y < n)%nat -> (answer y < length low)%nat) ->
      match weights with
      | Some w => b <= mean_loss k n (entry w) D answer C
      | None => b <= worst_loss k n D answer C
      end
  | Squares constant p vs unit =>
      b <= real constant - sum n (fun y =>
        sum_of_squares k vs unit (fun x => C x y) / inner_of k p unit (fun x => C x y))
  end.

(* The channel of integer columns over one whole. *)
Definition table (columns : list (list Z)) (whole : positive) (x y : nat) : R :=
  IZR (nth x (nth y columns []) 0%Z) / IZR (Zpos whole).

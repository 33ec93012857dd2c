(* check_private: the test of an integer table. check_private_sound: a table that passes is a channel
   over the real numbers, and each of its columns keeps all rows of the cone. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive.
Require Import Definitions Exponential Sums Priors.
Import ListNotations.
Open Scope Z_scope.

Definition BITS : Z := 200.

(* ---- a channel -------------------------------------------------------------------------------- *)

Definition check_channel (k : nat) (columns : list (list Z)) (whole : positive) : bool :=
  forallb (fun q => Nat.eqb (length q) k && forallb (Z.leb 0) q) columns &&
  forallb (Z.eqb (Zpos whole)) (fold_right add (repeat 0 k) columns).

(* ---- ratios ----------------------------------------------------------------------------------- *)

Definition floors := PositiveMap.t Z.

Definition floor_at (m : floors) (block : N) : option Z := PositiveMap.find (N.succ_pos block) m.

(* The least entry of each block. *)
Fixpoint block_floors (block : list N) (q : list Z) (m : floors) : floors :=
  match block, q with
  | b :: block', v :: q' =>
      let least := match floor_at m b with Some w => Z.min v w | None => v end in
      block_floors block' q' (PositiveMap.add (N.succ_pos b) least m)
  | _, _ => m
  end.

(* Each protected entry is compared with the least of its block; itself among them, as a >= 0. *)
Fixpoint check_blocks (e : Z) (m : floors) (block : list N) (protected : list bool) (q : list Z)
    : bool :=
  match block, protected, q with
  | b :: block', is_high :: protected', v :: q' =>
      (if is_high
       then match floor_at m b with
            | Some least => Z.shiftl v BITS <=? e * least
            | None => false
            end
       else true) && check_blocks e m block' protected' q'
  | _, _, _ => true
  end.

Definition check_constant (e : Z) (block : list N) (protected : list bool) (q : list Z) : bool :=
  check_blocks e (block_floors block q (PositiveMap.empty Z)) block protected q.

Fixpoint value_map (values : list exponent) (n : positive) (m : PositiveMap.t Z) : PositiveMap.t Z :=
  match values with
  | [] => m
  | a :: rest => value_map rest (Pos.succ n) (PositiveMap.add n (exp_lower BITS a) m)
  end.

(* The bounds e^a of a row of the table, None where nothing is bounded. *)
Definition bounds_of (m : PositiveMap.t Z) (row : list N) : list (option Z) :=
  map (fun n => match n with N0 => None | Npos p => Some (match PositiveMap.find p m with
    Some e => e | None => 0 end) end) row.

Fixpoint check_row (v : Z) (at_ : option nat) (row : list (option Z)) (q : list Z) : bool :=
  match row, q with
  | e :: row', w :: q' =>
      match at_ with Some O => true | _ =>
        match e with Some e => Z.shiftl v BITS <=? e * w | None => true end end
      && check_row v (match at_ with Some (S n) => Some n | _ => None end) row' q'
  | _, _ => true
  end.

Fixpoint check_matrix (x : nat) (bounds : list (list (option Z))) (rest q : list Z) : bool :=
  match bounds, rest with
  | row :: bounds', v :: rest' => check_row v (Some x) row q && check_matrix (S x) bounds' rest' q
  | _, _ => true
  end.

Definition weighted (weights q : list Z) : list Z :=
  map (fun p => fst p * snd p) (combine weights q).

(* ---- lifts and listed rows -------------------------------------------------------------------- *)

Definition inner (a b : list Z) : Z :=
  fold_left (fun t p => t + fst p * snd p) (combine a b) 0.

Definition check_lift (up down : option Z) (prior : vector) (q : list Z) : bool :=
  let m := inner (entries prior) q in
  match up with
  | Some e => let top := e * m in
      forallb (fun v => Z.shiftl (v * Zpos (over prior)) BITS <=? top) q
  | None => true
  end &&
  match down with
  | Some e => let top := Z.shiftl m BITS in
      forallb (fun v => top <=? e * (v * Zpos (over prior))) q
  | None => true
  end.

(* At every prior of a set: the least p . q is minus the most of p . -q. *)
Definition check_lift_over (up down : option Z) (s : prior_set) (q : list Z) : bool :=
  match up with
  | Some e => let top := - e * most_over s (map Z.opp q) in
      forallb (fun v => Z.shiftl (v * Zpos (set_unit s)) BITS <=? top) q
  | None => true
  end &&
  match down with
  | Some e => let top := Z.shiftl (most_over s q) BITS in
      forallb (fun v => top <=? e * (v * Zpos (set_unit s))) q
  | None => true
  end.

(* The value of a side: a numerator and a denominator. *)
Definition side_ok (row : list (N * fraction)) : bool := forallb (fun p => 0 <=? num (snd p)) row.

Definition side_num (row : list (N * fraction)) (q : list Z) : Z * Z :=
  fold_right (fun p t => let '(i, c) := p in let '(a, b) := t in
    (num c * nth (N.to_nat i) q 0 * b + a * Zpos (den c), b * Zpos (den c))) (0, 1) row.

Definition check_listed (e : Z) (row : listed_row) (q : list Z) : bool :=
  let '(a, b) := side_num (left row) q in
  let '(c, d) := side_num (right row) q in
  Z.shiftl (a * d) BITS <=? e * (c * b).

(* ---- generators ------------------------------------------------------------------------------- *)

(* What is computed once for all columns. *)
Inductive prepared :=
  | TestConstant (e : Z) (block : list N) (protected : list bool) (weights : list Z)
  | TestMatrix (bounds : list (list (option Z))) (weights : list Z)
  | TestLift (up down : option Z) (prior : vector)
  | TestLiftOver (up down : option Z) (priors : prior_set)
  | TestRows (rows : list (Z * listed_row)).

Definition opt_ok (a : option exponent) : bool :=
  match a with Some a => exponent_ok a | None => true end.

Definition well_formed (k : nat) (g : generator) : bool :=
  match g with
  | Ratio e weights =>
      Nat.eqb (length weights) k && forallb (Z.ltb 0) weights &&
      match e with
      | Constant a block protected =>
          exponent_ok a && Nat.eqb (length block) k && Nat.eqb (length protected) k
      | Matrix values table =>
          forallb exponent_ok values && Nat.eqb (length table) k &&
          forallb (fun row => Nat.eqb (length row) k) table
      end
  | Lift lower upper p => opt_ok lower && opt_ok upper && Nat.eqb (length (entries p)) k
      && forallb (Z.leb 0) (entries p)
  | LiftOver lower upper s => opt_ok lower && opt_ok upper && set_ok k s
  | Rows rows => forallb (fun row => exponent_ok (exponent_of row)
      && side_ok (left row) && side_ok (right row)
      && forallb (fun p => N.ltb (fst p) (N.of_nat k)) (left row ++ right row)) rows
  end.

Definition prepare (g : generator) : prepared :=
  match g with
  | Ratio (Constant a block protected) weights =>
      TestConstant (exp_lower BITS a) block protected weights
  | Ratio (Matrix values table) weights =>
      let m := value_map values 1 (PositiveMap.empty Z) in
      TestMatrix (map (bounds_of m) table) weights
  | Lift lower upper p =>
      TestLift (option_map (exp_lower BITS) upper) (option_map (exp_lower BITS) lower) p
  | LiftOver lower upper s =>
      TestLiftOver (option_map (exp_lower BITS) upper) (option_map (exp_lower BITS) lower) s
  | Rows rows => TestRows (map (fun row => (exp_lower BITS (exponent_of row), row)) rows)
  end.

Definition test (t : prepared) (q : list Z) : bool :=
  match t with
  | TestConstant e block protected weights => check_constant e block protected (weighted weights q)
  | TestMatrix bounds weights => let r := weighted weights q in check_matrix 0 bounds r r
  | TestLift up down p => check_lift up down p q
  | TestLiftOver up down s => check_lift_over up down s q
  | TestRows rows => forallb (fun p => check_listed (fst p) (snd p) q) rows
  end.

Definition check_generator (k : nat) (columns : list (list Z)) (g : generator) : bool :=
  well_formed k g && (let t := prepare g in forallb (test t) columns).

Definition check_private (k : nat) (cone : list generator) (columns : list (list Z))
    (whole : positive) : bool :=
  check_channel k columns whole && forallb (check_generator k columns) cone.

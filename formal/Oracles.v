(* Oracles make prices safe: from the cost of a node and any prices they find prices u with
   u . q <= cost . q for every column q of the cone. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive.
Require Import Definitions Exponential Sums Arrays Privacy Cone Ceilings Line OneBudget Knapsack Spanned Rays.
Import ListNotations.
Open Scope Z_scope.

Inductive oracle :=
  (* after multipliers a cost is a safe price, as it is *)
  | Orthant
  | LineOracle (order : list N)
  (* blocks are a partition of the inputs; weights >= 0 *)
  | OneBudgetOracle (blocks : list (list N)) (direction : list Z)
  (* of a lift bounded at one prior *)
  | KnapsackOracle (prior : vector)
  (* facets: rows of the cone whose rays are looked at, and weights >= 0 *)
  | RaysOracle (facets : list multiplier) (direction : list Z).

(* What is computed once for all nodes. *)
Inductive ready :=
  | ReadyOrthant
  | ReadyLine (order : list N) (steps : list step)
  | ReadyBudget (blocks : list (list member))
  | ReadyKnapsack (low : Z) (high : option Z) (prior : vector)
  | ReadyRays (rays : list (list Z)) (direction : list Z).

Definition ready_of (k : nat) (cone : list generator) (o : oracle) : option ready :=
  match o with
  | Orthant => Some ReadyOrthant
  | LineOracle order =>
      if is_order k order then
        match line_steps (map ceiling_of cone) order with
        | Some steps => Some (ReadyLine order steps)
        | None => None
        end
      else None
  | OneBudgetOracle blocks direction =>
      if is_partition k blocks
      then Some (ReadyBudget (all_members (map ceiling_of cone) blocks direction)) else None
  | KnapsackOracle p =>
      if Nat.eqb (length (entries p)) k && forallb (Z.leb 0) (entries p) then
        let '(low, high) := lift_ends cone p in Some (ReadyKnapsack low high p)
      else None
  | RaysOracle facets n =>
      match cone_rays k cone facets with
      | Some rays => Some (ReadyRays rays n)
      | None => None
      end
  end.

Definition price (k : nat) (r : ready) (cost prices : list Z) : option (list Z) :=
  match r with
  | ReadyOrthant => Some cost
  | ReadyLine order steps => line_price k order steps cost prices
  | ReadyBudget blocks => budget_price k blocks cost prices
  | ReadyKnapsack low high p => knapsack_price low high p cost prices
  | ReadyRays rays n => rays_price k rays n cost prices
  end.

Open Scope R_scope.

Theorem price_sound : forall k cone o r cost prices safe,
  forallb (well_formed k) cone = true -> ready_of k cone o = Some r ->
  length cost = k -> length prices = k -> price k r cost prices = Some safe ->
  length safe = k /\ forall q, in_cone k cone q -> dot safe q <= dot cost q.
Proof.
  intros k cone o r cost prices safe W E LC LP P. destruct o as [| order | blocks direction | p | facets n];
    cbn [ready_of] in E.
  - injection E as <-. injection P as <-. split; [exact LC | intros; lra].
  - destruct (is_order k order) eqn:O; [|discriminate].
    destruct (line_steps _ order) as [steps|] eqn:S; [|discriminate]. injection E as <-.
    apply line_sound with (order := order) (steps := steps) (prices := prices); assumption.
  - destruct (is_partition k blocks) eqn:O; [|discriminate]. injection E as <-.
    apply budget_sound with (blocks := blocks) (weights := direction) (prices := prices); assumption.
  - destruct (Nat.eqb (length (entries p)) k && forallb (Z.leb 0) (entries p)) eqn:P'; [|discriminate].
    apply andb_true_iff in P' as [LE PP]. apply Nat.eqb_eq in LE.
    destruct (lift_ends cone p) as [low high] eqn:L. injection E as <-.
    apply knapsack_sound with (p := p) (low := low) (high := high) (prices := prices); assumption.
  - destruct (cone_rays k cone facets) as [rays|] eqn:R0; [|discriminate]. injection E as <-.
    cbn [price] in P. split.
    + unfold rays_price in P. destruct (_ && _) eqn:C in P; [|discriminate]. apply some_eq in P.
      rewrite <- P. apply andb_true_iff in C as [C _]. apply Nat.eqb_eq, C.
    + intros q Q. apply (rays_price_sound k rays n cost prices safe q LC P).
      apply cone_rays_sound with cone facets; assumption.
Qed.

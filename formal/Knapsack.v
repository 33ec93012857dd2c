(* Oracle knapsack: a lift bounded at one prior p.

   With l = p . q a column has low l <= q_x <= high l. For d = c - u, any rate h and e = d - h p,
   d . q >= (h + Sum_x (low e_x if e_x >= 0 else high e_x)) l = K l, so that u + K p is safe. Where
   there is no upper end no e_x may be negative. The rate at which the inputs at the upper end fill
   p . r = 1 is the best; any would be sound. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool FMapPositive Mergesort Orders.
Require Import Definitions Exponential Sums Arrays Privacy Cone Ceilings.
Import ListNotations.
Open Scope Z_scope.

Definition same_prior (p q : vector) : bool :=
  Pos.eqb (over p) (over q) && (fix eq (a b : list Z) := match a, b with
    | [], [] => true | v :: a', w :: b' => Z.eqb v w && eq a' b' | _, _ => false end)
    (entries p) (entries q).

(* Bounds on q_x / (p . q) of all lifts at p, over 2^GRID. *)
Fixpoint lift_ends (cone : list generator) (p : vector) : Z * option Z :=
  match cone with
  | [] => (0, None)
  | Lift lower upper q :: rest =>
      let '(low, high) := lift_ends rest p in
      if same_prior p q then
        (match lower with Some a => Z.max low (exp_minus_lower GRID a) | None => low end,
         match upper with
         | Some a => match exp_upper GRID a, high with
                     | Some e, Some h => Some (Z.min e h)
                     | Some e, None => Some e
                     | None, _ => high
                     end
         | None => high
         end)
      else (low, high)
  | _ :: rest => lift_ends rest p
  end.

Module Rates <: TotalLeBool.
  Definition t := (Z * (Z * Z))%type.
  Definition leb (a b : t) := (fst a <=? fst b)%Z.
  Theorem leb_total : forall a b, leb a b = true \/ leb b a = true.
  Proof. intros. unfold leb. rewrite !Z.leb_le. lia. Qed.
End Rates.
Module RateSort := Sort Rates.

(* The rate d / p at which those with a smaller one fill what the lower ends leave. *)
Fixpoint fill (room : Z) (low high : Z) (last : Z) (items : list (Z * (Z * Z))) : Z :=
  match items with
  | [] => last
  | (rate, (_, n)) :: rest =>
      let room' := room - n * (high - low) in
      if room' <=? 0 then rate else fill room' low high rate rest
  end.

Definition rate_of (low : Z) (high : option Z) (whole : Z) (d n : list Z) : Z :=
  let items := RateSort.sort (map (fun p => (fst p / snd p, p))
    (filter (fun p => 0 <? snd p) (combine d n))) in
  match high with
  | Some h => fill (whole * 2 ^ GRID - low * fold_right Z.add 0 n) low h 0 items
  | None => match items with (rate, _) :: _ => rate | [] => 0 end
  end.

(* Sum_x (low e_x if e_x >= 0 else high e_x), e = d - rate n; None where an end lacks. *)
Fixpoint extremes (low : Z) (high : option Z) (rate : Z) (d n : list Z) : option Z :=
  match d, n with
  | v :: d', m :: n' =>
      let e := v - rate * m in
      match extremes low high rate d' n' with
      | Some t =>
          if 0 <=? e then Some (e * low + t)
          else match high with Some h => Some (e * h + t) | None => None end
      | None => None
      end
  | _, _ => Some 0
  end.

(* Rates are over UNIT 2^FINE, times the whole of p. *)
Definition FINE : Z := 64.

Definition lowered (high : option Z) (n : list Z) (cost prices : list Z) : list Z :=
  match high with
  | Some _ => prices
  | None => map (fun p => if fst p =? 0 then Z.min (fst (snd p)) (snd (snd p)) else snd (snd p))
      (combine n (combine cost prices))
  end.

Definition knapsack_price (low : Z) (high : option Z) (p : vector) (cost prices : list Z)
    : option (list Z) :=
  let n := entries p in
  let u := lowered high n cost prices in
  let d := map (fun p => Z.shiftl (fst p - snd p) FINE) (combine cost u) in
  let whole := Zpos (over p) in
  let rate := rate_of low high whole d n in
  match extremes low high rate d n with
  | Some t =>
      let level := rate * whole * 2 ^ GRID + t in
      Some (add (map (fun m => level * m / (whole * 2 ^ (GRID + FINE))) n) u)
  | None => None
  end.

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

Lemma same_prior_eq : forall p q, same_prior p q = true -> p = q.
Proof.
  intros [a o] [b o'] H. unfold same_prior in H. apply andb_true_iff in H as [O E].
  simpl in O, E. apply Pos.eqb_eq in O. subst o'. f_equal.
  revert b E. induction a as [|v a]; destruct b as [|w b]; intro E; try discriminate; [reflexivity|].
  apply andb_true_iff in E as [V E]. apply Z.eqb_eq in V. f_equal; [exact V | apply IHa, E].
Qed.

(* 2^GRID q_x is between low l and high l *)
Definition between (k : nat) (low : Z) (high : option Z) (l : R) (q : nat -> R) : Prop :=
  forall x, (x < k)%nat ->
    IZR low * l <= two GRID * q x /\ forall h, high = Some h -> two GRID * q x <= IZR h * l.

Lemma lift_ends_sound : forall k p q cone low high, forallb (well_formed k) cone = true ->
  (forall g, In g cone -> keeps k g q) -> (forall x, (x < k)%nat -> 0 <= q x) ->
  forallb (Z.leb 0) (entries p) = true ->
  lift_ends cone p = (low, high) -> between k low high (sum k (fun z => entry p z * q z)) q.
Proof.
  intros k p q. set (l := sum k (fun z => entry p z * q z)).
  pose proof (two_pos GRID grid_ok) as G.
  induction cone as [|g cone]; intros low high W K N P E.
  - injection E as <- <-. intros x X. split; [|discriminate].
    rewrite Rmult_0_l. apply Rmult_le_pos; [lra | apply N, X].
  - simpl in W. apply andb_true_iff in W as [WG W].
    assert (K' : forall g, In g cone -> keeps k g q) by (intros; apply K; right; assumption).
    destruct g as [e w | lower upper r | rows | lower upper s]; cbn [lift_ends] in E;
      try (apply (IHcone low high W K' N P E)).
    destruct (lift_ends cone p) as [low' high'] eqn:L. specialize (IHcone low' high' W K' N P eq_refl).
    destruct (same_prior p r) eqn:S; [|injection E as <- <-; exact IHcone].
    apply same_prior_eq in S. subst r. injection E as <- <-.
    assert (KG := K _ (or_introl eq_refl)). cbn [well_formed] in WG.
    apply andb_true_iff in WG as [WG _]. apply andb_true_iff in WG as [WG _].
    apply andb_true_iff in WG as [OL OU].
    assert (LP : 0 <= l).
    { apply sum_nonneg. intros z Z0. apply Rmult_le_pos; [apply entry_nonneg, P | apply N, Z0]. }
    intros x X. destruct (IHcone x X) as [A B]. destruct (KG x X) as [KU KL]. fold l in KU, KL.
    split.
    + destruct lower as [a|]; [|exact A]. specialize (KL a eq_refl). cbn [opt_ok] in OL.
      pose proof (exp_minus_lower_sound GRID a grid_ok OL) as S.
      destruct (Z.max_spec low' (exp_minus_lower GRID a)) as [[_ ->] | [_ ->]]; [|exact A].
      apply Rmult_le_compat_r with (r := l) in S; [|exact LP]. apply Rle_trans with (1 := S).
      rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra | exact KL].
    + intros h H. destruct upper as [a|]; [|apply B, H]. specialize (KU a eq_refl).
      cbn [opt_ok] in OU. destruct (exp_upper GRID a) as [e|] eqn:U; [|apply B, H].
      pose proof (exp_upper_sound GRID a e grid_ok OU U) as S.
      assert (T : two GRID * q x <= IZR e * l).
      { apply Rle_trans with (two GRID * (exp (size a) * l)); [apply Rmult_le_compat_l; [lra | exact KU]|].
        rewrite <- Rmult_assoc. apply Rmult_le_compat_r; assumption. }
      destruct high' as [h'|]; injection H as <-; [|exact T].
      destruct (Z.min_spec e h') as [[_ ->] | [_ ->]]; [exact T | apply B; reflexivity].
Qed.

Lemma extremes_sound : forall low high rate l k d n q t, between k low high l q ->
  length d = k -> length n = k -> extremes low high rate d n = Some t ->
  IZR t * l <= two GRID * (dot d q - IZR rate * dot n q).
Proof.
  intros low high rate l. induction k; intros d n q t B LD LN E.
  - destruct d; [|discriminate]. destruct n; [|discriminate]. injection E as <-. simpl. lra.
  - destruct d as [|v d]; [discriminate|]. destruct n as [|m n]; [discriminate|].
    injection LD as LD. injection LN as LN. cbn [extremes] in E.
    destruct (extremes low high rate d n) as [t'|] eqn:R0; [|discriminate].
    assert (B' : between k low high l (fun i => q (S i))) by (intros x X; apply B; lia).
    specialize (IHk d n _ t' B' LD LN R0). destruct (B O ltac:(lia)) as [L H]. cbn [dot].
    set (e := (v - rate * m)%Z) in *.
    assert (EE : IZR e = IZR v - IZR rate * IZR m) by (unfold e; rewrite minus_IZR, mult_IZR; reflexivity).
    assert (G : IZR v * q O + dot d (fun i => q (S i)) - IZR rate * (IZR m * q O + dot n (fun i => q (S i)))
      = IZR e * q O + (dot d (fun i => q (S i)) - IZR rate * dot n (fun i => q (S i)))) by (rewrite EE; ring).
    rewrite G. rewrite Rmult_plus_distr_l.
    destruct (0 <=? e)%Z eqn:P.
    + injection E as <-. apply Z.leb_le, IZR_le in P. rewrite plus_IZR, mult_IZR.
      assert (IZR e * (IZR low * l) <= IZR e * (two GRID * q O)) by (apply Rmult_le_compat_l; assumption).
      lra.
    + destruct high as [h|]; [|discriminate]. injection E as <-. apply Z.leb_gt, IZR_lt in P.
      rewrite plus_IZR, mult_IZR. specialize (H h eq_refl).
      assert (IZR e * (IZR h * l) <= IZR e * (two GRID * q O)) by nra. lra.
Qed.

Lemma lowered_sound : forall k high n cost prices, length n = k -> length cost = k ->
  length prices = k -> length (lowered high n cost prices) = k.
Proof.
  intros. unfold lowered. destruct high; [assumption|]. rewrite map_length, !combine_length. lia.
Qed.

Lemma shifted_dot : forall k cost u q, length cost = k -> length u = k ->
  dot (map (fun p => Z.shiftl (fst p - snd p) FINE) (combine cost u)) q
  = two FINE * (dot cost q - dot u q).
Proof.
  induction k; intros cost u q LC LU; destruct cost; destruct u; try discriminate; [simpl; lra|].
  injection LC as LC. injection LU as LU. cbn [combine map dot fst snd].
  rewrite (IHk cost u _ LC LU). rewrite shiftl_two by (vm_compute; discriminate).
  rewrite minus_IZR. ring.
Qed.

Theorem knapsack_sound : forall k cone p low high cost prices safe,
  forallb (well_formed k) cone = true -> length (entries p) = k ->
  forallb (Z.leb 0) (entries p) = true -> lift_ends cone p = (low, high) ->
  length cost = k -> length prices = k -> knapsack_price low high p cost prices = Some safe ->
  length safe = k /\ forall q, in_cone k cone q -> dot safe q <= dot cost q.
Proof.
  intros k cone p low high cost prices safe W LP PP L LC LU E. unfold knapsack_price in E.
  set (u := lowered high (entries p) cost prices) in *.
  set (d := map _ (combine cost u)) in E. set (whole := Zpos (over p)) in *.
  set (rate := rate_of low high whole d (entries p)) in *. clearbody rate.
  destruct (extremes _ _ _ _ _) as [t|] eqn:X; [|discriminate].
  apply some_eq in E. subst safe.
  assert (LU' : length u = k) by (apply lowered_sound; auto).
  set (level := (rate * whole * 2 ^ GRID + t)%Z).
  split; [rewrite add_length; rewrite map_length; lia|]. intros q [N K].
  pose proof (lift_ends_sound k p q cone low high W K N PP L) as B.
  set (l := sum k (fun z => entry p z * q z)) in *.
  assert (LD : length d = k) by (unfold d; rewrite map_length, combine_length; lia).
  pose proof (extremes_sound low high rate l k d (entries p) q t B LD LP X) as S.
  unfold d in S. rewrite shifted_dot with (k := k) in S by assumption.
  pose proof (two_pos GRID grid_ok) as G.
  assert (F : 0 < two FINE) by (apply two_pos; vm_compute; discriminate).
  assert (WH : 0 < IZR whole) by (apply IZR_lt; reflexivity).
  assert (DN : dot (entries p) q = IZR whole * l).
  { unfold l. rewrite dot_sum, LP, <- sum_scale. apply sum_ext. intros i I. unfold entry.
    fold whole. field. lra. }
  rewrite DN in S. rewrite add_dot by (rewrite map_length; lia).
  set (o := (whole * 2 ^ (GRID + FINE))%Z).
  assert (OP : (0 < o)%Z) by (unfold o; apply Z.mul_pos_pos; reflexivity).
  assert (M : dot (map (fun m => (level * m / o)%Z) (entries p)) q <= IZR level / IZR o * (IZR whole * l)).
  { rewrite <- DN. rewrite !dot_sum, map_length, <- sum_scale. apply sum_le. intros i I.
    rewrite (nth_indep _ 0%Z (level * 0 / o)%Z) by (rewrite map_length; exact I).
    rewrite (map_nth (fun m => (level * m / o)%Z)).
    pose proof (div_le (level * nth i (entries p) 0%Z) o OP) as D. rewrite mult_IZR in D.
    apply Rmult_le_compat_r with (r := q i) in D; [|apply N; lia]. unfold Rdiv in *. lra. }
  assert (OE : IZR o = IZR whole * (two GRID * two FINE)).
  { unfold o. rewrite mult_IZR. f_equal. fold (two (GRID + FINE)). apply two_add; vm_compute; discriminate. }
  assert (LE : IZR level = IZR rate * IZR whole * two GRID + IZR t).
  { unfold level. rewrite plus_IZR, !mult_IZR. reflexivity. }
  apply Rle_trans with (IZR level / IZR o * (IZR whole * l) + dot u q); [lra|].
  assert (H : IZR level / IZR o * (IZR whole * l) <= dot cost q - dot u q); [|lra].
  apply Rmult_le_reg_l with (two GRID * two FINE); [apply Rmult_lt_0_compat; assumption|].
  replace (two GRID * two FINE * (IZR level / IZR o * (IZR whole * l))) with (IZR level * l)
    by (rewrite OE; field; repeat split; lra).
  rewrite LE. lra.
Qed.

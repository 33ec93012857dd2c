(* Rational bounds on exponentials and roots, computed from integers alone.

   (1 + a / 2^n)^(2^n) <= e^a, as 1 + t <= e^t: n squarings, each rounded down. One lemma serves
   every sign, and e^a <= 1 / e^-a gives the other side; partial sums of the series need a lemma
   for each sign and one on the remainder. *)

From Coq Require Import Reals List ZArith Lra Lia Bool.
Require Import Definitions.
Open Scope Z_scope.

Definition STEPS : nat := 230.
Definition MOST : Z := 5000.

Fixpoint squared (n : nat) (bits v : Z) : Z :=
  match n with
  | O => v
  | S m => squared m bits (Z.shiftr (v * v) bits)
  end.

(* e^(m / d) * 2^bits, rounded down; m = 0 is exact *)
Definition exp_floor (bits m d : Z) : Z :=
  let inner := bits + Z.of_nat STEPS + 20 in
  let grow := Z.shiftl d (Z.of_nat STEPS) in
  let m := Z.min m (MOST * d) in
  if (m <? - MOST * d) then 0
  else Z.shiftr (squared STEPS inner (Z.shiftl (grow + m) inner / grow)) (inner - bits).

(* e^(m / d) * 2^bits, rounded up *)
Definition exp_ceil (bits m d : Z) : option Z :=
  let more := bits + 3 * Z.max 0 (m / d + 1) in
  let low := if (MOST * d <? m) then 0 else exp_floor more (- m) d in
  if (0 <? low) then Some (- (- Z.shiftl 1 (bits + more) / low)) else None.

(* sqrt (a / b) * 2^bits, rounded down, and up *)
Definition root_floor (bits a b : Z) : Z := Z.sqrt (Z.shiftl a (2 * bits) / b).

Definition root_ceil (bits a b : Z) : Z :=
  let r := root_floor bits a b in
  if (r * r * b =? Z.shiftl a (2 * bits)) then r else r + 1.

Definition ROOT : Z := 200.

(* Below and above factor * sqrt square: integers over 2^ROOT * den (factor). *)
Definition size_floor (a : exponent) : Z :=
  let root := if (0 <=? num (factor a)) then root_floor else root_ceil in
  num (factor a) * root ROOT (num (square a)) (Zpos (den (square a))).

Definition size_ceil (a : exponent) : Z :=
  let root := if (0 <=? num (factor a)) then root_ceil else root_floor in
  num (factor a) * root ROOT (num (square a)) (Zpos (den (square a))).

Definition size_unit (a : exponent) : Z := Z.shiftl (Zpos (den (factor a))) ROOT.

(* e^a and e^-a over 2^bits, rounded down *)
Definition exp_lower (bits : Z) (a : exponent) : Z := exp_floor bits (size_floor a) (size_unit a).
Definition exp_minus_lower (bits : Z) (a : exponent) : Z :=
  exp_floor bits (- size_ceil a) (size_unit a).
(* e^a over 2^bits, rounded up *)
Definition exp_upper (bits : Z) (a : exponent) : option Z :=
  exp_ceil bits (size_ceil a) (size_unit a).

Definition exponent_ok (a : exponent) : bool := (0 <=? num (square a)).

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

Definition two (bits : Z) : R := IZR (2 ^ bits).

Lemma two_pos : forall b, (0 <= b)%Z -> 0 < two b.
Proof. intros. unfold two. apply IZR_lt. apply Z.pow_pos_nonneg; lia. Qed.

Lemma two_add : forall a b, (0 <= a)%Z -> (0 <= b)%Z -> two (a + b) = two a * two b.
Proof. intros. unfold two. rewrite Z.pow_add_r by lia. apply mult_IZR. Qed.

Lemma div_le : forall a b, (0 < b)%Z -> IZR (a / b) <= IZR a / IZR b.
Proof.
  intros a b H. apply IZR_lt in H as HR. apply Rmult_le_reg_r with (IZR b); [lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. rewrite <- mult_IZR.
  apply IZR_le. pose proof (Z.mul_div_le a b H). lia.
Qed.

Lemma div_ge : forall a b, (0 < b)%Z -> IZR a / IZR b <= IZR (a / b + 1).
Proof.
  intros a b H. apply IZR_lt in H as HR. apply Rmult_le_reg_r with (IZR b); [lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. rewrite <- mult_IZR.
  apply IZR_le. pose proof (Z.mul_succ_div_gt a b H). lia.
Qed.

Lemma ceil_ge : forall a b, (0 < b)%Z -> IZR a / IZR b <= IZR (- (- a / b)).
Proof.
  intros a b H. pose proof (div_le (- a) b H) as D. rewrite opp_IZR in D. rewrite opp_IZR.
  unfold Rdiv in *. lra.
Qed.

Lemma shiftl_two : forall a b, (0 <= b)%Z -> IZR (Z.shiftl a b) = IZR a * two b.
Proof. intros. rewrite Z.shiftl_mul_pow2 by lia. apply mult_IZR. Qed.

Lemma shiftr_le : forall a b, (0 <= b)%Z -> IZR (Z.shiftr a b) * two b <= IZR a.
Proof.
  intros a b H. rewrite Z.shiftr_div_pow2 by lia. unfold two. rewrite <- mult_IZR. apply IZR_le.
  assert (0 < 2 ^ b)%Z by (apply Z.pow_pos_nonneg; lia).
  pose proof (Z.mul_div_le a (2 ^ b) H0). lia.
Qed.

Lemma squared_sound : forall n bits v t, (0 <= bits)%Z -> (0 <= v)%Z ->
  IZR v <= two bits * exp t -> IZR (squared n bits v) <= two bits * exp (2 ^ n * t).
Proof.
  induction n; intros bits v t B V H; simpl squared.
  - simpl. rewrite Rmult_1_l. exact H.
  - pose proof (two_pos bits B) as P. apply IZR_le in V as VR.
    replace (2 ^ S n * t) with (2 ^ n * (t + t)) by (simpl; ring).
    apply IHn; [exact B| |].
    + apply Z.shiftr_nonneg. nia.
    + apply Rmult_le_reg_r with (two bits); [exact P|].
      apply Rle_trans with (1 := shiftr_le _ _ B). rewrite mult_IZR, exp_plus.
      replace (two bits * (exp t * exp t) * two bits) with ((two bits * exp t) * (two bits * exp t))
        by ring.
      apply Rmult_le_compat; lra.
Qed.

Lemma exp_increasing_le : forall a b, a <= b -> exp a <= exp b.
Proof. intros a b [H | ->]; [left; apply exp_increasing; exact H | lra]. Qed.

Lemma one_plus : forall t, 1 + t <= exp t.
Proof.
  intro t. destruct (Req_dec t 0) as [-> | H]; [rewrite exp_0; lra|].
  left. apply exp_ineq1. exact H.
Qed.

Lemma exp_floor_sound : forall bits m d, (0 <= bits)%Z -> (0 < d)%Z ->
  IZR (exp_floor bits m d) <= two bits * exp (IZR m / IZR d).
Proof.
  intros bits m0 d B D. unfold exp_floor.
  set (inner := (bits + Z.of_nat STEPS + 20)%Z). set (m := Z.min m0 (MOST * d)).
  pose proof (two_pos bits B) as PB. apply IZR_lt in D as DR.
  destruct (m <? - MOST * d)%Z eqn:L.
  { apply Rmult_le_pos; [lra | left; apply exp_pos]. }
  apply Z.ltb_ge in L.
  assert (I : (0 <= inner)%Z) by (unfold inner; lia).
  assert (I' : (0 <= inner - bits)%Z) by (unfold inner; lia).
  set (grow := Z.shiftl d (Z.of_nat STEPS)).
  assert (G : IZR grow = IZR d * 2 ^ STEPS).
  { unfold grow. rewrite shiftl_two by lia. unfold two. rewrite pow_IZR. f_equal. }
  assert (P2 : 0 < 2 ^ STEPS) by (apply pow_lt; lra).
  assert (GP : 0 < IZR grow) by (rewrite G; apply Rmult_lt_0_compat; lra).
  assert (GZ : (0 < grow)%Z) by (apply lt_IZR; exact GP).
  assert (M : (0 <= grow + m)%Z).
  { assert (5000 * d <= grow)%Z; [|unfold MOST in *; lia].
    unfold grow. rewrite Z.shiftl_mul_pow2 by lia. rewrite Z.mul_comm. apply Z.mul_le_mono_nonneg_l;
      [lia|]. apply Z.leb_le. vm_compute. reflexivity. }
  pose proof (two_pos _ I') as PI'. pose proof (two_pos _ I) as PI.
  apply Rmult_le_reg_r with (two (inner - bits)); [exact PI'|].
  apply Rle_trans with (1 := shiftr_le _ _ I').
  apply Rle_trans with (two inner * exp (2 ^ STEPS * (IZR m / IZR grow))).
  - apply squared_sound; [exact I| |].
    + apply Z.div_pos; [|exact GZ]. apply Z.shiftl_nonneg. exact M.
    + apply Rle_trans with (1 := div_le _ _ GZ). rewrite shiftl_two by exact I.
      replace (IZR (grow + m) * two inner / IZR grow) with (two inner * (1 + IZR m / IZR grow)).
      * apply Rmult_le_compat_l; [lra | apply one_plus].
      * rewrite plus_IZR. field. lra.
  - replace (two bits * exp (IZR m0 / IZR d) * two (inner - bits))
      with (two inner * exp (IZR m0 / IZR d)).
    + apply Rmult_le_compat_l; [lra|]. apply exp_increasing_le.
      replace (2 ^ STEPS * (IZR m / IZR grow)) with (IZR m / IZR d).
      * unfold Rdiv. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
        apply IZR_le. unfold m. lia.
      * rewrite G. field. split; lra.
    + replace inner with (bits + (inner - bits))%Z at 1 by lia. rewrite two_add by lia. ring.
Qed.

Lemma exp_ceil_sound : forall bits m d v, (0 <= bits)%Z -> (0 < d)%Z ->
  exp_ceil bits m d = Some v -> two bits * exp (IZR m / IZR d) <= IZR v.
Proof.
  intros bits m d v B D. unfold exp_ceil.
  set (more := (bits + 3 * Z.max 0 (m / d + 1))%Z).
  assert (MB : (0 <= more)%Z) by (unfold more; lia).
  set (low := if (MOST * d <? m)%Z then 0%Z else exp_floor more (- m) d).
  destruct (0 <? low)%Z eqn:L; [|discriminate]. intro E. injection E as <-.
  apply Z.ltb_lt in L. apply IZR_lt in L as LR. apply IZR_lt in D as DR.
  assert (S : IZR low <= two more * exp (- (IZR m / IZR d))).
  { unfold low in *. destruct (MOST * d <? m)%Z; [lia|].
    apply Rle_trans with (1 := exp_floor_sound more (- m) d MB D).
    right. f_equal. f_equal. rewrite opp_IZR. field. lra. }
  apply Rle_trans with (2 := ceil_ge _ _ L). rewrite shiftl_two by lia. rewrite two_add by lia.
  rewrite exp_Ropp in S. set (e := exp (IZR m / IZR d)) in *.
  assert (EP : 0 < e) by apply exp_pos.
  apply Rmult_le_reg_r with (IZR low); [lra|].
  replace (1 * (two bits * two more) / IZR low * IZR low) with (two bits * two more) by (field; lra).
  pose proof (two_pos bits B) as PB. rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|].
  apply Rmult_le_compat_l with (r := e) in S; [|lra].
  replace (e * (two more * / e)) with (two more) in S by (field; lra). exact S.
Qed.

Lemma root_bounds : forall bits a b, (0 <= bits)%Z -> (0 <= a)%Z -> (0 < b)%Z ->
  IZR (root_floor bits a b) <= sqrt (IZR a / IZR b) * two bits <= IZR (root_ceil bits a b).
Proof.
  intros bits a b B A H. unfold root_ceil. set (r := root_floor bits a b).
  pose proof (two_pos bits B) as P. apply IZR_lt in H as HR. apply IZR_le in A as AR.
  assert (S0 : (0 <= Z.shiftl a (2 * bits) / b)%Z).
  { apply Z.div_pos; [|exact H]. apply Z.shiftl_nonneg. exact A. }
  pose proof (Z.sqrt_spec _ S0) as [L U]. fold (root_floor bits a b) in L, U. fold r in L, U.
  assert (R0 : (0 <= r)%Z) by apply Z.sqrt_nonneg. apply IZR_le in R0 as RR.
  assert (T : two (2 * bits) = two bits * two bits).
  { replace (2 * bits)%Z with (bits + bits)%Z by lia. apply two_add; lia. }
  assert (Q0 : 0 <= IZR a / IZR b).
  { unfold Rdiv. apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]. }
  assert (SQ : (sqrt (IZR a / IZR b) * two bits) * (sqrt (IZR a / IZR b) * two bits)
    = IZR (Z.shiftl a (2 * bits)) / IZR b).
  { rewrite shiftl_two by lia. rewrite T.
    replace (sqrt (IZR a / IZR b) * two bits * (sqrt (IZR a / IZR b) * two bits))
      with ((sqrt (IZR a / IZR b) * sqrt (IZR a / IZR b)) * (two bits * two bits)) by ring.
    rewrite sqrt_sqrt by exact Q0. field. lra. }
  set (s := sqrt (IZR a / IZR b) * two bits) in *.
  assert (SP : 0 <= s) by (apply Rmult_le_pos; [apply sqrt_pos | lra]).
  split.
  - assert (IZR r * IZR r <= s * s); [|nra]. rewrite SQ. rewrite <- mult_IZR.
    apply Rle_trans with (2 := div_le _ _ H). apply IZR_le. exact L.
  - destruct (r * r * b =? Z.shiftl a (2 * bits))%Z eqn:E.
    + apply Z.eqb_eq in E. assert (s * s = IZR r * IZR r); [|nra].
      rewrite SQ, <- E, !mult_IZR. field. lra.
    + rewrite plus_IZR. assert (s * s <= (IZR r + 1) * (IZR r + 1)); [|nra].
      rewrite SQ. apply Rle_trans with (1 := div_ge _ _ H).
      rewrite <- plus_IZR, <- mult_IZR. apply IZR_le. nia.
Qed.

Lemma size_unit_pos : forall a, (0 < size_unit a)%Z.
Proof.
  intro a. unfold size_unit. rewrite Z.shiftl_mul_pow2 by (vm_compute; discriminate).
  apply Z.mul_pos_pos; [reflexivity|]. apply Z.pow_pos_nonneg; [lia | vm_compute; discriminate].
Qed.

Lemma size_sound : forall a, exponent_ok a = true ->
  IZR (size_floor a) / IZR (size_unit a) <= size a <= IZR (size_ceil a) / IZR (size_unit a).
Proof.
  intros a H. unfold exponent_ok in H. apply Z.leb_le in H.
  pose proof (root_bounds ROOT (num (square a)) (Zpos (den (square a))) ltac:(vm_compute; discriminate)
    H ltac:(reflexivity)) as [L U].
  pose proof (size_unit_pos a) as UP. apply IZR_lt in UP.
  assert (UR : IZR (size_unit a) = IZR (Zpos (den (factor a))) * two ROOT).
  { unfold size_unit. apply shiftl_two. vm_compute. discriminate. }
  assert (DP : 0 < IZR (Zpos (den (factor a)))) by (apply IZR_lt; reflexivity).
  assert (RP : 0 < two ROOT) by (apply two_pos; vm_compute; discriminate).
  set (s := sqrt (IZR (num (square a)) / IZR (Zpos (den (square a))))) in *.
  assert (E : size a = IZR (num (factor a)) * (s * two ROOT) / IZR (size_unit a)).
  { unfold size, real. fold s. rewrite UR. field. split; lra. }
  rewrite E. unfold size_floor, size_ceil.
  destruct (0 <=? num (factor a))%Z eqn:F.
  - apply Z.leb_le in F. apply IZR_le in F. rewrite !mult_IZR. unfold Rdiv.
    split; (apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]);
      apply Rmult_le_compat_l; lra.
  - apply Z.leb_gt in F. apply IZR_lt in F. rewrite !mult_IZR. unfold Rdiv.
    split; (apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]); nra.
Qed.

(* The integers that the checker uses are on the right side of e^a and e^-a. *)
Lemma exp_lower_sound : forall bits a, (0 <= bits)%Z -> exponent_ok a = true ->
  IZR (exp_lower bits a) <= two bits * exp (size a).
Proof.
  intros bits a B H. apply Rle_trans with (1 := exp_floor_sound _ _ _ B (size_unit_pos a)).
  apply Rmult_le_compat_l; [left; apply two_pos, B|]. apply exp_increasing_le, size_sound, H.
Qed.

Lemma exp_minus_lower_sound : forall bits a, (0 <= bits)%Z -> exponent_ok a = true ->
  IZR (exp_minus_lower bits a) <= two bits * exp (- size a).
Proof.
  intros bits a B H. apply Rle_trans with (1 := exp_floor_sound _ _ _ B (size_unit_pos a)).
  apply Rmult_le_compat_l; [left; apply two_pos, B|]. apply exp_increasing_le.
  rewrite opp_IZR. pose proof (size_sound a H). unfold Rdiv in *. lra.
Qed.

Lemma exp_upper_sound : forall bits a v, (0 <= bits)%Z -> exponent_ok a = true ->
  exp_upper bits a = Some v -> two bits * exp (size a) <= IZR v.
Proof.
  intros bits a v B H E. apply Rle_trans with (2 := exp_ceil_sound _ _ _ _ B (size_unit_pos a) E).
  apply Rmult_le_compat_l; [left; apply two_pos, B|]. apply exp_increasing_le, size_sound, H.
Qed.

Lemma exp_lower_nonneg : forall bits a, (0 <= exp_lower bits a)%Z.
Proof.
  intros. unfold exp_lower, exp_floor. destruct (_ <? _)%Z eqn:L; [lia|].
  apply Z.shiftr_nonneg.
  assert (G : forall n b v, (0 <= v)%Z -> (0 <= squared n b v)%Z).
  { induction n; simpl; intros; [exact H|]. apply IHn, Z.shiftr_nonneg. nia. }
  apply G. apply Z.ltb_ge in L. pose proof (size_unit_pos a) as P.
  set (d := size_unit a) in *. set (m := Z.min _ _) in *.
  assert (5000 * d <= Z.shiftl d (Z.of_nat STEPS))%Z.
  { rewrite Z.shiftl_mul_pow2 by lia. rewrite Z.mul_comm. apply Z.mul_le_mono_nonneg_l;
      [lia|]. apply Z.leb_le. vm_compute. reflexivity. }
  apply Z.div_pos; [|unfold MOST in *; lia]. apply Z.shiftl_nonneg. unfold MOST in *. lia.
Qed.

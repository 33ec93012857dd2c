(* A relaxation takes a statement to one whose optimum is not larger: a bound on that one is a bound
   on the first. *)

From Coq Require Import Reals List ZArith NArith Lra Lia Bool.
Require Import Definitions Exponential Sums Priors Arrays Privacy Cone Restrict Representatives.
Import ListNotations.
Open Scope Z_scope.

Inductive choice := Keep (place : N) | At (place : N) (prior : vector).

Inductive relaxation :=
  (* the worst case is at least the mean at any weights >= 0, divided by their sum *)
  | Average (weights : list Z)
  (* the inputs kept, in their order *)
  | RestrictTo (kept : list N)
  (* for each input the one that stands for it *)
  | RepresentedBy (stands : list N)
  (* generators that are left, and lifts at priors of the set of one *)
  | Members (chosen : list choice).

Definition total (l : list Z) : Z := fold_right Z.add 0 l.

Definition average (w : list Z) (s : statement) : option statement :=
  match aim s, total w with
  | Loss low high unit None, Zpos sum =>
      if Nat.eqb (length w) (inputs s) && forallb (Z.leb 0) w then
        Some {| inputs := inputs s; cone := cone s; limits := limits s;
                aim := Loss low high unit (Some {| entries := w; over := sum |}) |}
      else None
  | _, _ => None
  end.

Definition chosen_of (k : nat) (cone : array generator) (c : choice) : option generator :=
  match c with
  | Keep n => pick cone n
  | At n p =>
      match pick cone n with
      | Some (LiftOver lower upper s) => if member k s p then Some (Lift lower upper p) else None
      | _ => None
      end
  end.

Fixpoint chosen_all (k : nat) (cone : array generator) (cs : list choice) : option (list generator) :=
  match cs with
  | [] => Some []
  | c :: rest =>
      match chosen_of k cone c, chosen_all k cone rest with
      | Some g, Some gs => Some (g :: gs)
      | _, _ => None
      end
  end.

Definition members (cs : list choice) (s : statement) : option statement :=
  match chosen_all (inputs s) (array_of (cone s)) cs with
  | Some parts => Some {| inputs := inputs s; cone := parts; limits := limits s; aim := aim s |}
  | None => None
  end.

Definition relax (r : relaxation) (s : statement) : option statement :=
  match r with
  | Average w => average w s
  | RestrictTo kept => restrict kept s
  | RepresentedBy stands => representatives stands s
  | Members chosen => members chosen s
  end.

Fixpoint relax_all (rs : list relaxation) (s : statement) : option statement :=
  match rs with
  | [] => Some s
  | r :: rest => match relax r s with Some s' => relax_all rest s' | None => None end
  end.

(* ---- proofs ----------------------------------------------------------------------------------- *)

Open Scope R_scope.

Lemma total_sum : forall l, IZR (total l) = sum (length l) (fun i => IZR (nth i l 0%Z)).
Proof.
  induction l; [reflexivity|]. cbn [length]. rewrite sum_first. simpl. rewrite plus_IZR, IHl.
  reflexivity.
Qed.

Lemma average_sound : forall w s s' b, average w s = Some s' -> is_bound s' b -> is_bound s b.
Proof.
  intros w s s' b E H. unfold average in E. destruct (aim s) as [low high unit [v|] |] eqn:A;
    try discriminate. destruct (total w) as [|t|] eqn:T; try discriminate.
  destruct (Nat.eqb (length w) (inputs s) && forallb (Z.leb 0) w) eqn:C; [|discriminate].
  injection E as <-. apply andb_true_iff in C as [L N]. apply Nat.eqb_eq in L.
  unfold is_bound in *. rewrite A. simpl in H. intros n C CC CP CL D answer CD CA.
  specialize (H n C CC CP CL D answer CD CA). apply Rle_trans with (1 := H).
  set (v := {| entries := w; over := t |}). unfold mean_loss, worst_loss.
  apply Rle_trans with (sum (inputs s) (fun x => largest (inputs s) (loss_at n D answer C) * entry v x)).
  - apply sum_le. intros x X. rewrite Rmult_comm. apply Rmult_le_compat_r.
    + apply entry_nonneg. exact N.
    + apply largest_ge, X.
  - rewrite sum_scale. replace (sum (inputs s) (entry v)) with 1; [lra|].
    unfold entry. cbn [entries over v]. rewrite <- L.
    rewrite (sum_ext _ _ (fun x => / IZR (Zpos t) * IZR (nth x w 0%Z))) by (intros; unfold Rdiv; ring).
    rewrite sum_scale, <- total_sum, T. field. apply not_0_IZR. discriminate.
Qed.

Lemma chosen_keeps : forall k parts q, (forall g, In g parts -> keeps k g q) -> forall cs found,
  chosen_all k (array_of parts) cs = Some found -> forall g, In g found -> keeps k g q.
Proof.
  intros k parts q K. induction cs as [|c cs]; intros found E g I; cbn [chosen_all] in E.
  - injection E as <-. destruct I.
  - destruct (chosen_of _ _ c) as [h|] eqn:C; [|discriminate].
    destruct (chosen_all _ _ cs) as [rest|]; [|discriminate]. injection E as <-.
    destruct I as [<- | I]; [|apply (IHcs rest eq_refl g I)].
    destruct c as [n | n p]; cbn [chosen_of] in C; rewrite pick_array_of in C.
    + apply nth_error_In in C. apply K, C.
    + destruct (nth_error parts (N.to_nat n)) as [[| | | lower upper s]|] eqn:P; try discriminate.
      destruct (member k s p) eqn:M; [|discriminate]. injection C as <-. apply nth_error_In in P.
      apply (K _ P), member_sound, M.
Qed.

Lemma members_sound : forall cs s s' b, members cs s = Some s' -> is_bound s' b -> is_bound s b.
Proof.
  intros cs s s' b E H. unfold members in E.
  destruct (chosen_all _ _ cs) as [found|] eqn:C; [|discriminate]. injection E as <-.
  unfold is_bound in *. cbn [inputs cone limits aim] in H. intros n Q CQ PQ. apply H; [exact CQ|].
  intros g y I Y. apply (chosen_keeps (inputs s) (cone s) (fun x => Q x y)) with (2 := C); [|exact I].
  intros h J. apply PQ; assumption.
Qed.

Theorem relax_sound : forall r s s' b, relax r s = Some s' -> is_bound s' b -> is_bound s b.
Proof.
  intros [w | kept | stands | chosen] s s' b E H.
  - exact (average_sound w s s' b E H).
  - exact (restrict_sound kept s s' b E H).
  - exact (representatives_sound stands s s' b E H).
  - exact (members_sound chosen s s' b E H).
Qed.

Theorem relax_all_sound : forall rs s s' b, relax_all rs s = Some s' -> is_bound s' b -> is_bound s b.
Proof.
  induction rs as [|r rs]; intros s s' b E H; simpl in E; [injection E as <-; exact H|].
  destruct (relax r s) as [t|] eqn:R0; [|discriminate].
  apply (relax_sound r s t b R0). exact (IHrs t s' b E H).
Qed.

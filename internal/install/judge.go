// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// The webhook's outcomes for a member that the policy is followed for.
const (
	outcomePatched   = "Patched"
	outcomeUnchanged = "Unchanged"
)

const (
	// restOfLife is the part of a certificate's life that is left when it should long
	// have been renewed: all who renew do so when a third or more is left.
	restOfLife = 5
	// FailoverLimit is what another replica gets to lead, three times what it takes
	// after a crash: the node of one, or the API server, may be slow.
	FailoverLimit = 30 * time.Second
	// cutOverdueAfter is what the controller may take to end a cut.
	cutOverdueAfter = time.Minute
	installCommand  = "kubectl apply --server-side -f etcd-webhook.yaml, from https://github.com/kubectl-etcd/kubectl-etcd/releases"
	// applyAgain doesn't name one file: that of the other mode would change the certificate's.
	applyAgain = "apply once more the manifests that it was installed by (of a release: kubectl apply --server-side -f etcd-webhook.yaml or etcd-webhook-cert-manager.yaml)"
)

// JudgeWebhook makes of what was seen what is wrong with it.
func JudgeWebhook(st *v1alpha1.WebhookStatus) {
	j := &WebhookJudge{St: st}
	if len(st.Webhooks) == 0 && st.Program.Deployment == "" && len(st.Unseen) == 0 {
		st.Health = v1alpha1.NotInstalled
		j.fault(reasons.WebhookNotInstalled, "no webhook configuration and no Deployment of it is there; to install it: %s", installCommand)
		return
	}
	j.replicas()
	j.certificates()
	j.rights()
	j.missingEntries()
	j.admission()
	j.settings()
	slices.SortStableFunc(st.Problems, func(a, b v1alpha1.Problem) int { return strings.Compare(a.Severity, b.Severity) })
	st.Health = j.health()
}

// WebhookJudge gathers problems: faults keep it from working, the rest doesn't.
type WebhookJudge struct {
	St *v1alpha1.WebhookStatus
	// works and broken are proofs of the one and of the other.
	works, broken bool
}

func (j *WebhookJudge) fault(reason policy.Reason, format string, args ...any) {
	j.broken = true
	j.St.Problems = append(j.St.Problems, v1alpha1.Problem{Severity: v1alpha1.SeverityError, Reason: reason.Name(), Message: fmt.Sprintf(format, args...)})
}

func (j *WebhookJudge) warn(reason policy.Reason, format string, args ...any) {
	j.St.Problems = append(j.St.Problems, v1alpha1.Problem{Severity: v1alpha1.SeverityWarning, Reason: reason.Name(), Message: fmt.Sprintf(format, args...)})
}

// health goes by the proof first: who answers works.
func (j *WebhookJudge) health() string {
	switch {
	case j.broken:
		return v1alpha1.Down
	case !j.works:
		return v1alpha1.Unknown
	case slices.ContainsFunc(j.St.Problems, func(p v1alpha1.Problem) bool { return p.Reason != reasons.NoPolicyAtAll.Name() }):
		return v1alpha1.Degraded
	}
	return v1alpha1.Healthy
}

func (j *WebhookJudge) unseen(what string) bool {
	return slices.ContainsFunc(j.St.Unseen, func(u v1alpha1.Unseen) bool { return u.What == what })
}

func (j *WebhookJudge) replicas() {
	p := j.St.Program
	if j.unseen(unseenDeployments) {
		return
	}
	switch {
	case p.Deployment == "":
		j.fault(reasons.WebhookNoReplica, "webhooks are registered, but there is no Deployment %s in namespace %s; install it again, or take the registrations away: %s", webhookName, p.Namespace, j.removal())
		return
	case p.Desired == 0:
		j.fault(reasons.WebhookNoReplica, "Deployment %s/%s is scaled to 0: kubectl -n %s scale deployment/%s --replicas 2", p.Namespace, p.Deployment, p.Namespace, p.Deployment)
		return
	case p.Ready == 0:
		j.fault(reasons.WebhookNoReplica, "none of the %d replicas of Deployment %s/%s is ready: %s", p.Desired, p.Namespace, p.Deployment, j.whyNotReady())
		return
	case p.Ready < p.Desired:
		j.warn(reasons.WebhookReplicasMissing, "%d of %d replicas are ready: %s", p.Ready, p.Desired, j.whyNotReady())
	}
	j.leader()
	nodes := map[string]bool{}
	for _, r := range p.Replicas {
		nodes[r.Node] = true
	}
	if len(p.Replicas) > 1 && len(nodes) == 1 {
		j.warn(reasons.WebhookTogether, "the %d replicas run on the same node, %s, and go with it", len(p.Replicas), p.Replicas[0].Node)
	}
}

// leader: without one for longer than a failover takes, half of the program's work
// isn't done, whoever answers reviews.
func (j *WebhookJudge) leader() {
	p := j.St.Program
	if p.Leader != "" || j.unseen(unseenLease) {
		return
	}
	const meanwhile = "budgets are kept by admission alone and cuts don't end"
	if p.LeaderlessSince == nil || j.St.Time.Sub(p.LeaderlessSince.Time) < FailoverLimit {
		j.warn(reasons.WebhookNoLeader, "no replica leads, so %s", meanwhile)
		return
	}
	j.fault(reasons.WebhookLeaderless, "no replica has led for %s, so %s; why none takes the lease %s: kubectl -n %s logs -l app.kubernetes.io/name=%s --tail=50",
		format.Since(j.St.Time.Time, p.LeaderlessSince.Time), meanwhile, webhookLease, p.Namespace, webhookName)
}

// rights: what has lost them answers by what it saw before.
func (j *WebhookJudge) rights() {
	if missing := j.St.Program.MissingRights; len(missing) > 0 {
		j.fault(reasons.WebhookLacksRights, "its ServiceAccount lacks %s; %s, which bind its roles", strings.Join(missing, ", "), applyAgain)
	}
}

func (j *WebhookJudge) removal() string {
	var names []string
	for _, w := range j.St.Webhooks {
		if !slices.Contains(names, w.Configuration) {
			names = append(names, w.Configuration)
		}
	}
	return "kubectl delete " + strings.Join(names, " ")
}

func (j *WebhookJudge) whyNotReady() string {
	p := j.St.Program
	for _, r := range p.Replicas {
		switch {
		case r.Ready:
		case j.ending(r.Certificate):
			return fmt.Sprintf("the certificate of %s %s, and who has none that lasts isn't ready; what keeps it from being renewed: kubectl -n %s logs %s, and with cert-manager kubectl -n %s describe certificates",
				r.Pod, j.EndOf(r.Certificate), p.Namespace, r.Pod, p.Namespace)
		case r.LastExit != "":
			return r.Pod + ": " + r.LastExit
		}
	}
	return fmt.Sprintf("kubectl -n %s describe pods -l app.kubernetes.io/name=%s", p.Namespace, webhookName)
}

func (j *WebhookJudge) certificates() {
	asked, trusted := 0, 0
	for _, r := range j.St.Program.Replicas {
		switch c := r.Certificate; {
		case c == nil:
			if r.Ready && !j.unseen(unseenCertificates) {
				j.warn(reasons.WebhookSilentReplica, "replica %s is Ready, but %s", r.Pod, r.Silence)
			}
		case len(c.Distrusted) > 0:
			asked++
			j.fault(reasons.WebhookUntrusted, "the API server doesn't trust what %s serves: %s", r.Pod, strings.Join(c.Distrusted, "; "))
		default:
			asked++
			trusted++
			if j.ending(c) {
				j.warn(reasons.WebhookCertificateNear, "the certificate of %s %s and has not been renewed", r.Pod, j.EndOf(c))
			}
		}
	}
	if asked > 0 && trusted == asked && j.St.Program.Ready > 0 && j.St.Admission.Error == "" {
		j.works = j.St.Admission.Answered
	}
}

// ending says that a certificate should long have been renewed. None doesn't end.
func (j *WebhookJudge) ending(c *v1alpha1.ServingCertificate) bool {
	return c != nil && c.NotAfter.Sub(j.St.Time.Time) < c.NotAfter.Sub(c.NotBefore.Time)/restOfLife
}

// EndOf is when a certificate ends, as a predicate.
func (j *WebhookJudge) EndOf(c *v1alpha1.ServingCertificate) string {
	if now := j.St.Time.Time; now.Before(c.NotAfter.Time) {
		return "expires in " + format.Since(c.NotAfter.Time, now)
	}
	return "expired " + format.Since(j.St.Time.Time, c.NotAfter.Time) + " ago"
}

func (j *WebhookJudge) admission() {
	t := j.St.Admission
	switch {
	case len(j.St.Webhooks) == 0 && !j.unseen(UnseenWebhooks):
		j.fault(reasons.WebhookNotRegistered, "no webhook is registered with the API server, so it never calls etcd-webhook; %s", applyAgain)
	case PassedBy(t):
		j.fault(reasons.WebhookNotJudging, "asked to %s, it answered %s (%s), so that policy isn't followed there; ask again if policy or cluster are new, else see its log: kubectl -n %s logs %s",
			t.Asked, t.Outcome, t.Reason, cmp.Or(j.St.Program.Namespace, webhookSpace), t.Replica)
	case t.Answered:
		j.works = true
		if t.Error != "" {
			j.warn(reasons.WebhookUntried, "the webhook answered, but the API server then refused the pod of the trial, so what it changes wasn't seen: %s", t.Error)
		}
	case !j.registered(entries.Pods) && !j.unseen(UnseenWebhooks): // missingEntries reports it
	case t.Error != "":
		j.warn(reasons.WebhookUntried, "admission could not be tried: %s", t.Error)
	default:
		j.fault(reasons.WebhookNotCalled, "the API server was asked to %s, and it came back untouched: etcd-webhook wasn't called or didn't answer in time%s", t.Asked, j.failedOpen())
	}
}

// PassedBy says that a member whom a policy governs got an answer like anybody's.
// That it answers proves that it is called, not that it does what it is there for.
func PassedBy(t v1alpha1.AdmissionTrial) bool {
	return t.Answered && t.GovernedBy != "" && t.Outcome != outcomePatched && t.Outcome != outcomeUnchanged
}

// failedOpen is what the API server says of requests that passed unanswered.
func (j *WebhookJudge) failedOpen() string {
	for _, w := range j.St.Webhooks {
		if w.Calls != nil && strings.HasPrefix(w.Name, "pods.") && w.Calls.FailedOpen > 0 {
			return fmt.Sprintf("; it let %d requests pass unanswered since it started", w.Calls.FailedOpen)
		}
	}
	return ""
}

func (j *WebhookJudge) settings() {
	for _, w := range j.St.Webhooks {
		if w.FailurePolicy != "Ignore" {
			j.warn(reasons.WebhookFailsClosed, "webhook %s has failurePolicy %s: with etcd-webhook down, %s is refused", w.Name, w.FailurePolicy, strings.Join(w.Resources, ", "))
		}
	}
	if len(j.St.Policies) == 0 && !j.unseen(unseenPolicies) {
		j.warn(reasons.NoPolicyAtAll, "there is no EtcdTopologyPolicy, so nothing is spread and no budget is kept; policy.yaml of the release, manifests/samples/policy.yaml of a checkout, is one to begin with")
	}
	for _, p := range j.St.Policies {
		if p.Conflict != "" {
			j.warn(reasons.PolicyConflict, "EtcdTopologyPolicy %s: %s", p.Name, p.Conflict)
		}
	}
	for _, c := range j.St.Cuts {
		switch {
		case c.Until == nil:
			j.warn(reasons.CutOverdue, "client traffic of Service %s/%s is cut, and nobody can read until when", c.Namespace, c.Service)
		case j.St.Time.Sub(c.Until.Time) > cutOverdueAfter:
			j.warn(reasons.CutOverdue, "client traffic of Service %s/%s should have been restored %s ago", c.Namespace, c.Service, format.Since(j.St.Time.Time, c.Until.Time))
		}
	}
}

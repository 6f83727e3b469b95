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
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// The webhook's outcomes if it applied the policy to a member.
const (
	outcomePatched   = "Patched"
	outcomeUnchanged = "Unchanged"
)

const (
	// restOfLife is the last part of a certificate's lifetime, a fifth. All programs renew a
	// certificate while at least a third is left.
	restOfLife = 5
	// FailoverLimit is the time for another replica to become the leader. It is three times the
	// usual time after a crash, because a node or the API server may be slow.
	FailoverLimit  = 30 * time.Second
	installCommand = "kubectl apply --server-side -f etcd-webhook.yaml, from https://github.com/kubectl-etcd/kubectl-etcd/releases"
	// applyAgain names both files, because the wrong one would change how certificates are made.
	applyAgain = "apply the manifests of its installation again (of a release: kubectl apply --server-side -f etcd-webhook.yaml or etcd-webhook-cert-manager.yaml)"
)

// JudgeWebhook adds the problems and the health to a status.
func JudgeWebhook(st *v1alpha1.WebhookStatus) {
	j := &WebhookJudge{St: st}
	if len(st.Webhooks) == 0 && st.Program.Deployment == "" && len(st.Unseen) == 0 {
		st.Health = v1alpha1.NotInstalled
		j.fault(reasons.WebhookNotInstalled, "there is no webhook configuration and no Deployment. To install it: %s", installCommand)
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

// WebhookJudge collects problems. With a fault, the webhook does not work. With a warning, it
// does.
type WebhookJudge struct {
	St *v1alpha1.WebhookStatus
	// works is true if an answer proves that it works. broken is true after a fault.
	works, broken bool
}

func (j *WebhookJudge) fault(reason policy.Reason, format string, args ...any) {
	j.broken = true
	j.St.Problems = append(j.St.Problems, v1alpha1.Problem{Severity: v1alpha1.SeverityError, Reason: reason.Name(), Message: fmt.Sprintf(format, args...)})
}

func (j *WebhookJudge) warn(reason policy.Reason, format string, args ...any) {
	j.St.Problems = append(j.St.Problems, v1alpha1.Problem{Severity: v1alpha1.SeverityWarning, Reason: reason.Name(), Message: fmt.Sprintf(format, args...)})
}

// health returns the health. Without a fault and without a proof it is unknown.
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
		j.fault(reasons.WebhookNoReplica, "webhooks are registered, but there is no Deployment %s in namespace %s. Install it again, or delete the registrations: %s", webhookName, p.Namespace, j.removal())
		return
	case p.Desired == 0:
		j.fault(reasons.WebhookNoReplica, "Deployment %s/%s is scaled to 0. To start it: kubectl -n %s scale deployment/%s --replicas 2", p.Namespace, p.Deployment, p.Namespace, p.Deployment)
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
		j.warn(reasons.WebhookTogether, "all %d replicas run on node %s and fail with it", len(p.Replicas), p.Replicas[0].Node)
	}
}

// leader reports a missing leader. Without a leader for longer than a failover takes, it is a
// fault: admission works, but the controller does not.
func (j *WebhookJudge) leader() {
	p := j.St.Program
	if p.Leader != "" || j.unseen(unseenLease) {
		return
	}
	const effect = "only admission maintains budgets, and cuts do not end"
	if p.LeaderlessSince == nil || j.St.Time.Sub(p.LeaderlessSince.Time) < FailoverLimit {
		j.warn(reasons.WebhookNoLeader, "no replica is the leader, so %s", effect)
		return
	}
	j.fault(reasons.WebhookLeaderless, "no replica has been the leader for %s, so %s. To see why none acquires lease %s: kubectl -n %s logs -l app.kubernetes.io/name=%s --tail=50",
		format.Since(j.St.Time.Time, p.LeaderlessSince.Time), effect, webhookLease, p.Namespace, webhookName)
}

// rights reports missing permissions. A program without them answers from old data.
func (j *WebhookJudge) rights() {
	if missing := j.St.Program.MissingRights; len(missing) > 0 {
		j.fault(reasons.WebhookLacksRights, "its ServiceAccount lacks %s. To bind its roles, %s", strings.Join(missing, ", "), applyAgain)
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
			return fmt.Sprintf("the certificate of %s %s, so the replica isn't ready. To see why the certificate is not renewed: kubectl -n %s logs %s, and with cert-manager kubectl -n %s describe certificates",
				r.Pod, j.EndOf(r.Certificate), p.Namespace, r.Pod, p.Namespace)
		case r.LastExit != "":
			return r.Pod + ": " + r.LastExit
		}
	}
	return fmt.Sprintf("kubectl -n %s describe pods -l app.kubernetes.io/name=%s", p.Namespace, webhookName)
}

func (j *WebhookJudge) certificates() {
	known, trusted := 0, 0
	for _, r := range j.St.Program.Replicas {
		switch c := r.Certificate; {
		case c == nil:
			if r.Ready && !j.unseen(unseenCertificates) {
				j.warn(reasons.WebhookSilentReplica, "replica %s is Ready, but %s", r.Pod, r.Silence)
			}
		case len(c.Distrusted) > 0:
			known++
			j.fault(reasons.WebhookUntrusted, "the API server doesn't trust the certificate of %s: %s", r.Pod, strings.Join(c.Distrusted, "; "))
		default:
			known++
			trusted++
			if j.ending(c) {
				j.warn(reasons.WebhookCertificateNear, "the certificate of %s %s and has not been renewed", r.Pod, j.EndOf(c))
			}
		}
	}
	if known > 0 && trusted == known && j.St.Program.Ready > 0 && j.St.Admission.Error == "" {
		j.works = j.St.Admission.Answered
	}
}

// ending reports whether a certificate should already have been renewed. It is false for nil.
func (j *WebhookJudge) ending(c *v1alpha1.ServingCertificate) bool {
	return c != nil && c.NotAfter.Sub(j.St.Time.Time) < c.NotAfter.Sub(c.NotBefore.Time)/restOfLife
}

// EndOf returns when a certificate expires, as a predicate.
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
		j.fault(reasons.WebhookNotRegistered, "no webhook is registered with the API server, so it never calls etcd-webhook. To register them, %s", applyAgain)
	case PassedBy(t):
		j.fault(reasons.WebhookNotJudging, "in a dry run to %s, it answered %s (%s), so it does not apply that policy. If the policy or the cluster is new, run this command again. Otherwise, read its log: kubectl -n %s logs %s",
			t.Asked, t.Outcome, t.Reason, cmp.Or(j.St.Program.Namespace, webhookSpace), t.Replica)
	case t.Answered:
		j.works = true
		if t.Error != "" {
			j.warn(reasons.WebhookUntried, "the webhook answered, but the API server then refused the pod of the dry run, so its changes are unknown: %s", t.Error)
		}
	case !j.registered(entries.Pods) && !j.unseen(UnseenWebhooks): // missingEntries reports it
	case t.Error != "":
		j.warn(reasons.WebhookUntried, "the dry run of admission was not possible: %s", t.Error)
	default:
		j.fault(reasons.WebhookNotCalled, "a dry run to %s returned the pod unchanged: the API server did not call etcd-webhook, or it did not answer in time%s", t.Asked, j.failedOpen())
	}
}

// PassedBy reports whether the webhook answered but did not apply the policy that governs the
// member. An answer alone only proves that the API server calls the webhook.
func PassedBy(t v1alpha1.AdmissionTrial) bool {
	return t.Answered && t.GovernedBy != "" && t.Outcome != outcomePatched && t.Outcome != outcomeUnchanged
}

// failedOpen returns how many requests the API server admitted without an answer.
func (j *WebhookJudge) failedOpen() string {
	for _, w := range j.St.Webhooks {
		if w.Calls != nil && strings.HasPrefix(w.Name, "pods.") && w.Calls.FailedOpen > 0 {
			return fmt.Sprintf("; since its start it admitted %d requests without an answer", w.Calls.FailedOpen)
		}
	}
	return ""
}

func (j *WebhookJudge) settings() {
	for _, w := range j.St.Webhooks {
		if w.FailurePolicy != "Ignore" {
			j.warn(reasons.WebhookFailsClosed, "webhook %s has failurePolicy %s: while etcd-webhook does not answer, the API server refuses %s", w.Name, w.FailurePolicy, strings.Join(w.Resources, ", "))
		}
	}
	if len(j.St.Policies) == 0 && !j.unseen(unseenPolicies) {
		j.warn(reasons.NoPolicyAtAll, "there is no EtcdTopologyPolicy, so no cluster is spread and no budget is maintained. Start with policy.yaml of the release, or with manifests/samples/policy.yaml of a checkout")
	}
	for _, p := range j.St.Policies {
		if p.Conflict != "" {
			j.warn(reasons.PolicyConflict, "EtcdTopologyPolicy %s: %s", p.Name, p.Conflict)
		}
	}
	for _, c := range j.St.Cuts {
		switch {
		case c.Until == nil:
			j.warn(reasons.CutOverdue, "client traffic of Service %s/%s is cut, and its end time is invalid", c.Namespace, c.Service)
		case j.St.Time.Sub(c.Until.Time) > observe.CutOverdue:
			j.warn(reasons.CutOverdue, "client traffic of Service %s/%s should have been restored %s ago", c.Namespace, c.Service, format.Since(j.St.Time.Time, c.Until.Time))
		}
	}
}

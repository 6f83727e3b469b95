// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// The reasons of a status' problems, beside those of the rules.
const (
	reasonSplitBrain   = "SplitBrain"
	reasonNoQuorum     = "NoQuorum"
	reasonMemberDown   = "MemberDown"
	reasonMemberUnsure = "MemberNotAsked"
	reasonDeadVoter    = "MemberWithoutPod"
	reasonAlarm        = "Alarm"
	reasonBackup       = "BackupNotReady"
	reasonCondition    = "ConditionBad"
	reasonOperatorGone = "ConditionsOld"
	reasonTraffic      = "ClientTrafficCut"
	reasonSpread       = "SpreadBroken"
	reasonLearner      = "Learner"
	reasonQuota        = "QuotaNear"
	reasonFragmented   = "Fragmented"
	reasonCertificate  = "CertificateExpires"
	reasonVersions     = "VersionsDiffer"
	reasonLagging      = "MemberLags"
	reasonInterrupted  = "OperationInterrupted"

	ReasonBudgetsUnseen = "BudgetsUnseen"
)

// What is worth a warning.
const (
	QuotaNear         = 0.8               // of the quota is in the file
	fragmentedFrom    = 100 * 1024 * 1024 // bytes in the file, below which nobody minds
	fragmentedShare   = 0.45              // of the file is free space
	CertificateNear   = 14 * 24 * time.Hour
	LaggingFrom       = 1000 // entries
	conditionsOldFrom = policy.EvidenceLimit
)

// assess finds what is wrong, and what that makes of the cluster's health.
func assess(s Observation, st *v1alpha1.EtcdClusterStatus) {
	a := assessment{Observation: s, status: st}
	a.quorum()
	a.members()
	a.conditions()
	a.surroundings()
	a.numbers()
	slices.SortStableFunc(st.Problems, func(x, y v1alpha1.Problem) int {
		return cmp.Compare(weight(x), weight(y))
	})
	st.Health = a.health()
}

func weight(p v1alpha1.Problem) int {
	switch {
	case p.Reason == reasonSplitBrain || p.Reason == reasonNoQuorum:
		return 0
	case p.Severity == v1alpha1.SeverityError:
		return 1
	}
	return 2
}

type assessment struct {
	Observation

	status *v1alpha1.EtcdClusterStatus
}

func (a *assessment) fail(reason, format string, args ...any) {
	a.add(v1alpha1.SeverityError, reason, format, args...)
}

func (a *assessment) warn(reason, format string, args ...any) {
	a.add(v1alpha1.SeverityWarning, reason, format, args...)
}

// about says something of one member. What is said of several members alike
// becomes one problem.
func (a *assessment) about(severity, reason, name, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for i := range a.status.Problems {
		p := &a.status.Problems[i]
		if names, same := strings.CutSuffix(p.Message, ": "+text); same && p.Reason == reason && p.Severity == severity {
			p.Message = names + ", " + name + ": " + text
			return
		}
	}
	a.add(severity, reason, "%s: %s", name, text)
}

func (a *assessment) add(severity, reason, format string, args ...any) {
	a.status.Problems = append(a.status.Problems, v1alpha1.Problem{Severity: severity, Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// health is what the problems amount to.
func (a *assessment) health() string {
	health := v1alpha1.Healthy
	for _, p := range a.status.Problems {
		switch {
		case weight(p) == 0:
			return v1alpha1.Down
		case p.Severity == v1alpha1.SeverityError:
			health = v1alpha1.Degraded
		case p.Reason == reasonMemberUnsure && health == v1alpha1.Healthy && (a.blind() || !a.refused()):
			health = v1alpha1.Unknown
		}
	}
	return health
}

// refused says that it is the user's rights that keep the members from being
// asked. Then what Kubernetes shows must do.
func (a *assessment) refused() bool {
	return a.Silence != nil && apierrors.IsForbidden(a.Silence) || slices.ContainsFunc(a.status.Members, func(m v1alpha1.MemberStatus) bool { return m.State == stateNotAsked })
}

// quorum looks at the cluster as a whole.
func (a *assessment) quorum() {
	if ids := a.clusterIDs(); len(ids) > 1 {
		var parts []string
		for id, pods := range ids {
			parts = append(parts, etcd.FormatID(id)+" has "+strings.Join(pods, ", "))
		}
		slices.Sort(parts)
		a.fail(reasonSplitBrain, "split brain: the members are of %d clusters that know nothing of each other: %s", len(ids), strings.Join(parts, "; "))
		return
	}
	q := a.status.Quorum
	led := a.status.Leader != ""
	switch {
	case a.blind():
		a.warn(reasonMemberUnsure, "whether the members are well is not known: none answers here, and you may not list %s", strings.Join(BlindTo(a.status.Unseen, a.status.Cluster.Distribution), ", "))
	case q.Slack < 0 && !led:
		a.fail(reasonNoQuorum, "the quorum is lost: %d of %d voters are well, %d are needed", q.Healthy, q.Voters, q.Needed)
	case Answered(a.status) && !led:
		a.fail(reasonNoQuorum, "no member that answers follows a leader: the quorum is lost, or there is an election")
	}
	if a.Facts.Cluster.Operation != "" {
		return // it passes through even sizes
	}
	if q.Voters == 2 && len(a.Said.Outsiders()) > 0 {
		a.warn(budget.TwoMembers.Name(), "2 voters tolerate no failure")
	} else if q.Voters == 2 {
		a.warn(budget.TwoMembers.Name(), "2 voters tolerate no failure: scale to 3, or to 1")
	} else if q.Voters > 0 && q.Voters%2 == 0 {
		a.warn(budget.EvenSize.Name(), "%d voters tolerate no more failures than %d", q.Voters, q.Voters-1)
	}
}

// members looks at them one by one.
func (a *assessment) members() {
	if a.Silence != nil {
		a.warn(reasonMemberUnsure, "no member was asked: %s", etcd.Reason(a.Silence))
	}
	for i := range a.status.Members {
		a.member(&a.status.Members[i])
	}
	for _, stray := range a.Said.Strays {
		a.fail(reasonAlarm, "alarm %s of %s is in force%s", stray.Type, stray.Where(), alarmMeans([]string{stray.Type}))
	}
}

func (a *assessment) member(m *v1alpha1.MemberStatus) {
	name := cmp.Or(m.Pod, m.Name, m.ID)
	switch {
	case m.State == v1alpha1.StateOK, m.State == stateUnseen:
	case m.State == stateNotAsked && !a.wellByKubernetes(m.Pod):
		a.about(v1alpha1.SeverityError, reasonMemberDown, name, "its pod is Ready, its lease is not renewed; not asked: %s", m.Detail)
	case m.State == stateNotAsked:
		a.about(v1alpha1.SeverityWarning, reasonMemberUnsure, name, "not asked: %s", m.Detail)
	case m.State == stateSilent && a.wellByKubernetes(m.Pod) && a.nobodyAnswers():
		a.about(v1alpha1.SeverityWarning, reasonMemberUnsure, name, "Ready, but gives no answer here: %s", m.Detail)
	case m.ID != "" && m.State == StateNoPod && m.Pod == "":
		a.orphan(m)
	case len(m.Alarms) > 0:
		a.about(v1alpha1.SeverityError, reasonAlarm, name, "alarm %s%s", strings.Join(m.Alarms, " and "), alarmMeans(m.Alarms))
	default:
		a.about(v1alpha1.SeverityError, reasonMemberDown, name, "%s", withDetail(m.State, m.Detail))
	}
	if m.Role == v1alpha1.RoleLearner && m.Answered {
		a.warn(reasonLearner, "%s is a learner: it has no vote until it is promoted", name)
	}
}

// orphan is a member in etcd's list that no pod runs.
func (a *assessment) orphan(m *v1alpha1.MemberStatus) {
	name := cmp.Or(m.Name, "never started")
	if m.Role == v1alpha1.RoleLearner {
		a.warn(reasonLearner, "member %s (%s) is a learner that no pod runs: it has no vote; start it, or remove it", m.ID, name)
		return
	}
	a.fail(reasonDeadVoter, "member %s (%s) is in etcd's list and no pod runs it: it counts as a dead %s", m.ID, name, strings.ToLower(m.Role))
}

func withDetail(state, detail string) string {
	if detail == "" || strings.HasPrefix(detail, state) {
		return cmp.Or(detail, state)
	}
	return state + ": " + detail
}

func alarmMeans(alarms []string) string {
	if slices.Contains(alarms, "NOSPACE") {
		return ": the cluster takes no writes until space is freed and the alarm disarmed"
	}
	return ""
}

// blind says that neither the members nor Kubernetes show whether they are well.
func (a *assessment) blind() bool {
	return !Answered(a.status) && len(BlindTo(a.status.Unseen, a.status.Cluster.Distribution)) > 0
}

// wellByKubernetes says that what could be seen of a member doesn't speak against it.
func (a *assessment) wellByKubernetes(pod string) bool {
	return len(BlindTo(a.status.Unseen, a.status.Cluster.Distribution)) > 0 || slices.ContainsFunc(a.Facts.Cluster.Members, func(m policy.Member) bool { return m.Pod == pod && m.Ready && m.PodReady })
}

func (a *assessment) nobodyAnswers() bool {
	return !Answered(a.status)
}

// conditions looks at what the operator says.
func (a *assessment) conditions() {
	for _, c := range a.status.Conditions {
		if c.Confirmed != nil && a.At.Sub(c.Confirmed.Time) > conditionsOldFrom {
			a.warn(reasonOperatorGone, "%s was last confirmed %s ago: is the operator running?", c.Type, format.Since(a.At, c.Confirmed.Time))
			break
		}
	}
	for _, c := range a.status.Conditions {
		switch {
		case !c.Bad || c.Type == "AllMembersReady" || c.Type == "Ready":
		case c.Type == "BackupReady" && c.Status == string(policy.False):
			a.fail(reasonBackup, "backups fail: %s", cmp.Or(c.Message, c.Reason))
		case c.Type == "BackupReady":
			a.warn(reasonBackup, "it is not known whether backups succeed: %s", cmp.Or(c.Message, c.Reason))
		case c.Status == string(policy.Unknown):
		default:
			a.warn(reasonCondition, "%s is %s: %s", c.Type, c.Status, cmp.Or(c.Message, c.Reason))
		}
	}
}

// cutOverdue is how long a cut may be over: whoever ends it has a clock of its own.
const cutOverdue = time.Minute

// surroundings looks at what is around the members.
func (a *assessment) surroundings() {
	st := a.status
	if t := st.Traffic; t.State == v1alpha1.TrafficCut {
		say := a.warn
		if t.Until == nil || a.At.Sub(t.Until.Time) > cutOverdue {
			say = a.fail // nobody is there who ends it
		}
		say(reasonTraffic, "client traffic is %s: new clients don't reach the members", format.CutText(t, a.At))
	}
	if u := st.UnderWay; u != nil && u.Interrupted && u.Change != "" {
		a.warn(reasonInterrupted, "kubectl etcd %s was interrupted and is half done: carry it on or take it back before anything else", u.Operation)
	}
	if st.Spread.Kept == string(policy.False) {
		a.warn(reasonSpread, "%s", st.Spread.Message)
	}
	if st.Budget.Name == "" && st.Budget.Message != "" && st.Budget.Reason != ReasonBudgetsUnseen && st.Replicas.Desired > 1 {
		a.warn(st.Budget.Reason, "%s", st.Budget.Message)
	}
	for _, n := range a.Facts.Notes {
		a.warn(n.Reason, "%s", n.Message)
	}
}

// numbers looks at what the members measure.
func (a *assessment) numbers() {
	var versions []string
	for i := range a.status.Members {
		m := &a.status.Members[i]
		if m.Quota > 0 && float64(m.DBSize) > QuotaNear*float64(m.Quota) {
			a.about(v1alpha1.SeverityWarning, reasonQuota, m.Pod, "the database is at %s of its quota of %s", Percent(m.DBSize, m.Quota), ui.Bytes(m.Quota))
		}
		if free := m.DBSize - m.DBSizeInUse; m.DBSize > fragmentedFrom && float64(free) > fragmentedShare*float64(m.DBSize) {
			a.about(v1alpha1.SeverityWarning, reasonFragmented, m.Pod, "%s of the database are free space that only defragmenting gives back", Percent(free, m.DBSize))
		}
		if m.Lag != nil && *m.Lag > LaggingFrom {
			a.about(v1alpha1.SeverityWarning, reasonLagging, m.Pod, "%d entries behind", *m.Lag)
		}
		if c := m.CertificateExpiry; c != nil && c.Sub(a.At) < CertificateNear {
			a.about(v1alpha1.SeverityWarning, reasonCertificate, m.Pod, "the certificate expires on %s, in %s", c.UTC().Format(time.DateOnly), format.Since(c.Time, a.At))
		}
		if m.Version != "" && !slices.Contains(versions, m.Version) {
			versions = append(versions, m.Version)
		}
	}
	if slices.Sort(versions); len(versions) > 1 {
		a.warn(reasonVersions, "members run different versions: %s", strings.Join(versions, ", "))
	}
}

func Percent(part, whole int64) string {
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}

// endedText says how a container ended.
func endedText(t *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("with exit code %d", t.ExitCode)
	if t.Reason != "" && t.Reason != "Error" && t.Reason != "Completed" {
		text += " (" + t.Reason + ")"
	}
	if message := format.OneLine(t.Message); message != "" {
		text += ": " + message
	}
	return text
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"context"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/survivor"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// judgeSurvivors reads the facts and evaluates the rule of a recovery. lost are the pods that are declared to be lost, and
// volumes those whose data is read from their volumes, none if only survivors are to be restored. survivors answer. message is
// the verdict.
func judgeSurvivors(ctx context.Context, a *app.App, c *app.Cluster, lost, volumes []string) (survivors []string, message string, err error) {
	survivors, v, err := askSurvivors(ctx, a, c, func(f recovery.Facts) ([]string, policy.Verdict) {
		return recovery.MayReadVolumes(f, lost, volumes)
	})
	switch {
	case err != nil:
		return nil, "", err
	case len(volumes) > 0 && v.Reason == recovery.NoSurvivor: // nothing that answers has more than the volumes
		return nil, "no member answers, and the data of all others is lost or was declared to be lost", nil
	}
	return survivors, v.Message, survivor.Recoverable(c.Owner, v)
}

// askSurvivors evaluates a rule. It asks again while members don't answer that decide.
func askSurvivors(ctx context.Context, a *app.App, c *app.Cluster, may func(recovery.Facts) ([]string, policy.Verdict)) (survivors []string, v policy.Verdict, err error) {
	err = AskAgain(ctx, a, func() (again bool, err error) {
		f, err := recoveryFacts(ctx, a, c)
		if err == nil {
			survivors, v = may(f)
		}
		return err == nil && recovery.MayAnswer(v), err
	})
	return survivors, v, err
}

// recoveryFacts asks each member once.
func recoveryFacts(ctx context.Context, a *app.App, c *app.Cluster) (recovery.Facts, error) {
	source, err := a.Source()
	if err != nil {
		return recovery.Facts{}, err
	}
	line := a.NewStatusLine()
	source.Progress = line.Show
	f := source.Facts(ctx, c.Owner, health.DiagnosisChecks())
	line.End()
	return f.Recovery(), context.Cause(ctx)
}

// stillLost returns why a recovery that has stopped no member is not to go on, empty if it may. rec has the members that are
// lost, and those whose volumes were read. Those whose claims are lost may be no members of the present StatefulSet. The data of
// the survivor is saved, so the survivor need not answer any more.
func stillLost(ctx context.Context, a *app.App, c *app.Cluster, rec *progress.Record) (why string, err error) {
	var back []string
	_, v, err := askSurvivors(ctx, a, c, func(f recovery.Facts) ([]string, policy.Verdict) {
		var lost, read []string
		back = nil
		for _, m := range f.Members {
			isRead := slices.Contains(rec.Read, m.Name)
			switch known := isRead || slices.Contains(rec.Lost, m.Name); {
			case m.Answers() && known:
				back = append(back, m.Name)
			case m.Answers(), !known && m.Name != rec.Survivor:
			case isRead:
				read = append(read, m.Name)
			default:
				lost = append(lost, m.Name)
			}
		}
		return recovery.MayReadVolumes(f, lost, read)
	})
	switch {
	case err != nil:
		return "", err
	case v.Reason == recovery.NoSurvivor: // the file of the survivor is the newest data
		return "", nil
	case !v.Allowed:
		return v.Message, nil
	case len(back) > 0:
		return policy.Names(back, "answers, and did not answer or was declared to be lost", "answer, and did not answer or were declared to be lost") + " when the recovery began", nil
	}
	return "", nil
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"context"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/survivor"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// JudgeSurvivors reads the facts and evaluates the rule of a recovery. lost are the pods that are declared to be lost.
// message is the verdict.
func JudgeSurvivors(ctx context.Context, a *app.App, c *app.Cluster, lost []string) (survivors []string, message string, err error) {
	survivors, verdict, err := askSurvivors(ctx, a, c, func(recovery.Facts) []string { return lost })
	if err != nil {
		return nil, "", err
	}
	return survivors, verdict.Message, survivor.Recoverable(c.Owner, verdict)
}

// JudgeVolumes evaluates the rule of a recovery that takes the data of silent members from their volumes. It counts them as
// lost, because their data is saved. survivors are the members that answer, none if no member does.
func JudgeVolumes(ctx context.Context, a *app.App, c *app.Cluster, lost, volumes []string) (survivors []string, message string, err error) {
	survivors, v, err := askSurvivors(ctx, a, c, func(recovery.Facts) []string { return slices.Concat(lost, volumes) })
	switch {
	case err != nil:
		return nil, "", err
	case v.Reason == recovery.NoSurvivor: // nothing that answers has more than the volumes
		return nil, "no member answers, and the data of all members without a saved volume is lost or was declared to be lost", nil
	}
	return survivors, v.Message, survivor.Recoverable(c.Owner, v)
}

// askSurvivors evaluates the rule. It asks again while members don't answer that decide.
func askSurvivors(ctx context.Context, a *app.App, c *app.Cluster, lost func(recovery.Facts) []string) (survivors []string, v policy.Verdict, err error) {
	err = AskAgain(ctx, a, func() (again bool, err error) {
		f, err := recoveryFacts(ctx, a, c)
		if err == nil {
			survivors, v = recovery.MayRecover(f, lost(f))
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

// stillLost returns why a recovery that has stopped no member is not to go on, empty if it may. lost are the members that
// its journal has as lost, or whose volumes were read. Those whose claims are lost may be no members of the present StatefulSet. The data of the survivor
// is saved, so the survivor need not answer any more.
func stillLost(ctx context.Context, a *app.App, c *app.Cluster, lost []string, survivor string) (why string, err error) {
	var back []string
	_, v, err := askSurvivors(ctx, a, c, func(f recovery.Facts) (still []string) {
		back = nil
		for _, m := range f.Members {
			switch {
			case m.Name != survivor && !slices.Contains(lost, m.Name), m.Name == survivor && m.Answers():
			case m.Answers():
				back = append(back, m.Name)
			default:
				still = append(still, m.Name)
			}
		}
		return still
	})
	switch {
	case err != nil:
		return "", err
	case v.Reason == recovery.NoSurvivor: // the file of the survivor is the newest data
		return "", nil
	case !v.Allowed:
		return v.Message, nil
	case len(back) > 0:
		return policy.Names(back, "answers, and was declared to be lost", "answer, and were declared to be lost"), nil
	}
	return "", nil
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"context"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
)

// PlanFor begins a plan for a cluster with the flags.
func PlanFor(ctx context.Context, a *app.App, target string) (*app.Cluster, restore.Plan, error) {
	r := restore.Plan{At: a.Clock.Now()}
	c, err := a.Owner(ctx, target)
	if err != nil {
		return nil, r, err
	}
	if _, err := a.Credentials.Read(a); err != nil { // the commands contain them
		return nil, r, err
	}
	r.Owner, r.Flags.Login = c.Owner, a.Credentials.AsArgs()
	r.Flags.Context, err = pinnedFlags(a)
	r.Flags.Kubectl = strings.TrimSpace(r.Flags.Context + " -n " + c.Namespace)
	return c, r, err
}

// Survey adds facts from the members, as far as they answer. It asks again while members run whose answers matter.
func Survey(ctx context.Context, a *app.App, c *app.Cluster, target string, r *restore.Plan) error {
	return AskAgain(ctx, a, func() (again bool, err error) {
		survey, err := surveyOnce(ctx, a, target, r)
		if ended := context.Cause(ctx); ended != nil {
			return false, ended
		}
		r.SetSurvey(survey, app.Is[*etcd.SplitBrainError](err))
		err = r.FindSilent(ctx, c.Reader, survey, err)
		return r.Unsure() && !r.Saved, err
	})
}

// surveyOnce asks each member once.
func surveyOnce(ctx context.Context, a *app.App, target string, r *restore.Plan) (etcd.Survey, error) {
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return etcd.Survey{}, err
	}
	defer c.Close()
	if len(c.Members.Endpoints) > 0 {
		r.ClientPort = c.Members.Endpoints[0].Port
	}
	survey, err := c.Members.Survey(ctx)
	if order := etcd.SnapshotOrder(survey.Members); err == nil && len(order) > 0 {
		findAccess(ctx, c, survey, order[0].Pod, r)
	}
	return survey, err
}

// findAccess finds out what etcd allows to the user of a member's client, before anything begins.
func findAccess(ctx context.Context, c *app.Cluster, survey etcd.Survey, pod string, r *restore.Plan) {
	r.Denied, r.Authentication = "", ""
	if err := c.Members.MaySnapshot(ctx, pod); err != nil {
		r.Denied, r.Authentication = err.Error(), etcd.AuthenticationOn
	} else if survey.Followed() != 0 {
		r.Authentication = c.Members.Authentication(ctx, pod)
	}
}

// pinnedFlags returns flags that select the same API server even if the current context changes.
func pinnedFlags(a *app.App) (string, error) {
	if *a.Flags.BearerToken != "" {
		return "", app.Refused("every printed command would contain --token: put the token into a kubeconfig, and use --context")
	}
	flags := a.ContextFlags()
	raw, err := a.Flags.ToRawKubeConfigLoader().RawConfig()
	if err == nil && *a.Flags.Context == "" && raw.CurrentContext != "" {
		flags = " --context " + format.Quote(raw.CurrentContext) + flags
	}
	return flags, nil
}

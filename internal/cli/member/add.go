// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/memberlist"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

func newMemberAddCmd(e *app.App) *cobra.Command {
	ch := change.Flags{Timeout: time.Minute}
	var peerURLs []string
	cmd := &cobra.Command{
		Use:   "add TARGET --peer-urls URL",
		Short: "Add a learner that runs outside of the StatefulSet",
		Long: ui.Paragraphs(`
			Add a learner, which is a member without a vote, to etcd's member list. Then start the member
			yourself. Use this command for a member that runs outside of the StatefulSet, for example
			during a move to another Kubernetes cluster. To add a pod to the StatefulSet, use kubectl etcd
			scale, which does every step.

			The plugin can't see whether such a member has caught up, so kubectl etcd member promote
			refuses it. Promote it with etcdctl when it has caught up. You can remove a learner at any
			time.`),
		Example: ui.Examples(`
			# Add a member on another machine
			kubectl etcd member add statefulset/main --peer-urls https://etcd-a.example.com:2380

			# Print the plan and change nothing
			kubectl etcd member add statefulset/main --peer-urls https://etcd-a.example.com:2380 --dry-run=client`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkURLs(peerURLs); err != nil {
				return err
			}
			return memberAdd(cmd.Context(), e, args[0], peerURLs, ch)
		},
	}
	cmd.Flags().StringSliceVar(&peerURLs, "peer-urls", nil, "Peer URLs that the new member advertises to the others (required)")
	if err := cmd.MarkFlagRequired("peer-urls"); err != nil {
		panic(err) // the flag was added above
	}
	change.AddFlags(cmd, &ch)
	return cmd
}

func memberAdd(ctx context.Context, a *app.App, target string, peerURLs []string, f change.Flags) error {
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	var s etcd.Survey
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "member add", Needs: memberlist.Needs(c.Owner),
		Judge: func(ctx context.Context) (plan operate.Plan, err error) {
			s, plan, err = memberlist.PlanAdd(ctx, c.Members, c.Owner, peerURLs)
			return plan, err
		},
		Act: func(ctx context.Context, run *change.Run) error {
			id, err := memberlist.AddLearner(ctx, c.Members, c.Owner, peerURLs, run.Held)
			if err != nil {
				return err
			}
			startWith(a, s, id, peerURLs)
			done := "added a learner at " + strings.Join(peerURLs, ",")
			run.Done(ctx, reasons.MemberAdded, done, fmt.Sprintf("%s: %s", c.Target(), done))
			return nil
		},
		Next: func(error) string { return listShows(c, "whether it was added") },
	})
}

// checkURLs returns an error for a peer URL that no member can have.
func checkURLs(peerURLs []string) error {
	for _, u := range peerURLs {
		parsed, err := url.Parse(u)
		if err != nil || parsed.Hostname() == "" || parsed.Port() == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
			return fmt.Errorf("--peer-urls: %q must be a URL such as https://host:2380", u)
		}
	}
	return nil
}

// startWith prints the flags of etcd with which the new member joins.
func startWith(e *app.App, s etcd.Survey, id uint64, peerURLs []string) {
	var cluster []string
	for _, l := range s.List {
		for _, u := range l.PeerURLs {
			cluster = append(cluster, l.Name+"="+u)
		}
	}
	for _, u := range peerURLs {
		cluster = append(cluster, "NAME="+u)
	}
	e.Notef("Start member %016x with an empty data directory, a NAME of your choice, and these flags:\n  --initial-cluster-state existing --initial-advertise-peer-urls %s --initial-cluster %s",
		id, strings.Join(peerURLs, ","), strings.Join(cluster, ","))
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/growth"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// volumeSize is the value of --size: a quantity of bytes above 0.
type volumeSize struct{ resource.Quantity }

// Set parses a quantity.
func (s *volumeSize) Set(text string) error {
	q, err := resource.ParseQuantity(text)
	if err == nil && q.Sign() <= 0 {
		err = errors.New("it must be above 0")
	}
	s.Quantity = q
	return err
}

// Type returns the type that help texts show.
func (s *volumeSize) Type() string { return "quantity" }

func newGrowCmd(a *app.App) *cobra.Command {
	flags := change.Flags{Timeout: time.Hour}
	var size volumeSize
	cmd := &cobra.Command{
		Use:   "grow TARGET --size SIZE",
		Short: "Make the members' volumes larger, one member at a time",
		Long: ui.Paragraphs(`
			Make the volumes with the members' data larger, one member at a time: members that are not healthy,
			then learners, then followers from the highest ordinal, then the leader.

			The command requests the size in the member's PersistentVolumeClaim, and waits until the volume has
			it. The next member follows only then. If the file system does not grow within a minute while it is
			mounted, the command restarts the member by the eviction of its pod, as kubectl etcd restart does.
			The leader transfers its leadership first. Before each member, the command checks that all other
			members are healthy and have a quorum without it. A member that is not healthy grows without this
			check, because its volume may be full.

			The StorageClass must have allowVolumeExpansion: true. The command refuses members whose data is not
			in a volume claim, sizes below that of any volume, and clusters whose volumes an operator makes. It
			stops when the storage driver reports an error.

			The StatefulSet keeps its claim template, which can't be changed. So members that are added later
			get volumes of the old size. Run the same command again after that. The output shows how to change
			the template.

			After an interruption, run the same command again to continue.`),
		Example: ui.Examples(`
			# Print the plan and change nothing
			kubectl etcd volume grow etcd-main --size 20Gi --dry-run=client

			# Give each member a volume of 20Gi
			kubectl etcd volume grow etcd-main --size 20Gi --reason "the disks are nearly full"`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), a, args[0], size.Quantity, flags)
		},
	}
	cmd.Flags().Var(&size, "size", "Size of each volume, such as 20Gi")
	_ = cmd.MarkFlagRequired("size") // the flag exists
	change.AddFlags(cmd, &flags)
	return cmd
}

func run(ctx context.Context, a *app.App, target string, size resource.Quantity, f change.Flags) error {
	c, err := a.Owner(ctx, target)
	if err != nil {
		return err
	}
	restarts, err := change.Restarts(a, c)
	if err != nil {
		return err
	}
	defer restarts.Close()
	j := &growth.Job{Job: restarts, Size: size}
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "volume grow", Needs: j.Needs(),
		Judge: func(ctx context.Context) (operate.Plan, error) {
			j.Owner = c.Owner
			return j.Judge(ctx)
		},
		DryRun: j.DryRun,
		Act: func(ctx context.Context, run *change.Run) error {
			j.StillHeld, j.Lock = run.Held, run.Lock
			result, err := j.Run(ctx)
			if err != nil {
				return err
			}
			done(ctx, a, c, run, size, result)
			return nil
		},
		Next: func(err error) string {
			if !app.Is[*operate.HaltedError](err) {
				return ""
			}
			return "once that is solved, run the same command again to continue"
		},
	})
}

// done records and prints what was done.
func done(ctx context.Context, a *app.App, c *app.Cluster, run *change.Run, size resource.Quantity, r *growth.Result) {
	what := fmt.Sprintf("grew the volumes to %s", size.String())
	if len(r.Grown) > 0 {
		what = fmt.Sprintf("grew the volumes of %s to %s", strings.Join(r.Grown, ", "), size.String())
	}
	if len(r.Restarted) > 0 {
		what += ", and restarted " + strings.Join(r.Restarted, ", ")
	}
	run.Done(ctx, reasons.VolumesGrown, what, fmt.Sprintf("%s: %s", c.Target(), what))
	for _, note := range r.Notes {
		a.Notef("%s", note)
	}
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/schedule"
)

// scheduleOptions are the flags of snapshot schedule.
type scheduleOptions struct {
	change.Flags

	to, ca                  string
	spec                    schedule.Spec
	suspend, resume, delete bool
}

func newScheduleCommand(a *app.App) *cobra.Command {
	o := scheduleOptions{Flags: change.Flags{Timeout: 10 * time.Minute}}
	cmd := &cobra.Command{
		Use:   "schedule TARGET --to URL",
		Short: "Save snapshots regularly with a CronJob",
		Long: ui.Paragraphs(`
			Create or change a CronJob that saves snapshots of a cluster to a store. It runs snapshot save
			in the namespace of the cluster, connects to the members directly, and deletes the oldest of
			its snapshots. The command takes the first snapshot at once, and waits for it.

			After each verified snapshot, the CronJob renews a Lease. The annotations of the StatefulSet
			name this Lease and its maximum age. If a run fails or does not start, BackupReady becomes
			False, as for druid's backups.

			URL is the URL of a folder, as in snapshot save. The credentials for the store are environment
			variables, which the Secret of --secret contains, for example AWS_ACCESS_KEY_ID or
			AZURE_STORAGE_KEY. For gs://, its key credentials.json is the file of the credentials. Without
			--secret, the identity of the pod is used. For file:///DIRECTORY, --claim is the
			PersistentVolumeClaim to mount there. For a store with a private certificate authority,
			--store-ca is the ConfigMap that has it as ca.crt.

			The ServiceAccount of the CronJob may list pods, services and StatefulSets of the namespace,
			get the Secrets and ConfigMaps of the members' pods by name, and renew the Lease.

			The CronJob never restores, and never deletes a snapshot of another cluster or the newest one. The
			command creates no bucket, Secret or volume claim: they must exist. It doesn't watch
			later runs: kubectl etcd check shows whether they succeed. --delete keeps the snapshots.

			A cluster of etcd-druid is refused. The message shows how to change its own schedule.`),
		Example: ui.Examples(`
			# Save a snapshot every hour to a bucket, and keep those of one day
			kubectl etcd snapshot schedule etcd-main --every 1h --keep 24 --to s3://backups/team-a --secret backup-store

			# Save a snapshot every day to a volume
			kubectl etcd snapshot schedule etcd-main --every 24h --keep 7 --to file:///backup --claim etcd-backups

			# Stop for a while, and continue
			kubectl etcd snapshot schedule etcd-main --suspend
			kubectl etcd snapshot schedule etcd-main --resume

			# Delete the schedule. The snapshots stay
			kubectl etcd snapshot schedule etcd-main --delete`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runSchedule(cmd.Context(), a, args[0], o) },
	}
	o.addTo(cmd)
	return cmd
}

// addTo adds the flags to the command.
func (o *scheduleOptions) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.to, "to", "", "URL of the folder for the snapshots")
	flags.DurationVar(&o.spec.Every, "every", time.Hour, "Time between two snapshots: 5m to 30m, 1h to 12h, 24h or 168h. It must divide an hour or a day")
	flags.IntVar(&o.spec.Keep, "keep", 24, "Number of snapshots to keep")
	flags.StringVar(&o.spec.Image, "image", defaultImage(), "Image whose entrypoint is kubectl-etcd. The default is the one of this release")
	flags.StringVar(&o.spec.Secret, "secret", "", "Secret with environment variables for the store. For gs://, its key credentials.json is the file of the credentials")
	flags.StringVar(&o.ca, "store-ca", "", "configmap/NAME: ConfigMap whose key ca.crt has the certificate authorities of the store")
	flags.StringVar(&o.spec.Claim, "claim", "", "PersistentVolumeClaim to mount at the directory of a file:// URL")
	flags.BoolVar(&o.suspend, "suspend", false, "Suspend the schedule until --resume")
	flags.BoolVar(&o.resume, "resume", false, "Resume a suspended schedule")
	flags.BoolVar(&o.delete, "delete", false, "Delete the schedule. The snapshots stay")
	change.AddFlags(cmd, &o.Flags)
	cmd.MarkFlagsOneRequired("to", "suspend", "resume", "delete")
	cmd.MarkFlagsMutuallyExclusive("to", "suspend", "resume", "delete")
	for _, name := range []string{"every", "keep", "image", "secret", "store-ca", "claim"} {
		for _, mode := range []string{"suspend", "resume", "delete"} {
			cmd.MarkFlagsMutuallyExclusive(name, mode)
		}
	}
}

// defaultImage returns the image of this release, or nothing for a build that is no release.
func defaultImage() string {
	version := app.ClientVersion().Version
	if !strings.HasPrefix(version, "v") || strings.Count(version, "-") > 1 || strings.Contains(version, "+") {
		return ""
	}
	return "ghcr.io/kubectl-etcd/kubectl-etcd:" + version
}

func (o scheduleOptions) action() schedule.Action {
	switch {
	case o.suspend:
		return schedule.Suspend
	case o.resume:
		return schedule.Resume
	case o.delete:
		return schedule.Delete
	}
	return schedule.Set
}

// authorities returns the ConfigMap of --store-ca. A user must first make a ConfigMap of a file on this machine.
func (o scheduleOptions) authorities() (string, error) {
	name, isConfigMap := strings.CutPrefix(o.ca, "configmap/")
	switch {
	case o.ca == "":
		return "", nil
	case isConfigMap && len(validation.IsDNS1123Subdomain(name)) == 0:
		return name, nil
	}
	return "", fmt.Errorf("--store-ca %q must be configmap/NAME, because the pods mount it. To create one from a file, run kubectl create configmap NAME -n NAMESPACE --from-file=ca.crt=FILE", o.ca)
}

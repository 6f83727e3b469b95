// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// unprotection is druid's annotation by which others may write the cluster's objects.
const unprotection = druidv1alpha1.DisableEtcdComponentProtectionAnnotation

// Druid is what a plan for a druid cluster needs beside the rest.
type Druid struct {
	// Store is nil for a cluster without one, which can't be restored.
	Store *observe.BackupStore
	// ConfigMap is the members' configuration, and Config its content for the
	// first member alone.
	ConfigMap, Config string
	// Claims are the names of the claims, Leases those of the members' leases.
	Claims, Leases []string
	// StorePod is a pod that mounts a store that is a directory of the nodes, and
	// StoreDir where in it snapshots are; empty for other stores.
	StorePod, StoreDir string
	// Cut says that client traffic is cut, through whose Service members join.
	Cut bool
}

// druid is the plan for an Etcd: its sidecars restore by themselves what is the
// last in the store, into a first member whose volume is new, and the others join
// it. They read no file, so the snapshot is put into the store. They raise no
// revision either, so it is raised before: it makes the snapshot the last one, too.
func (r Plan) druid() []Step {
	d := r.Druid
	steps := []Step{r.check()}
	if r.Answers {
		steps = append(steps, r.keepInStore())
	}
	steps = append(steps, r.intoStore()...)
	steps = append(steps,
		r.handsOff(),
		Step{Title: "Stop all members", Commands: []string{
			r.kubectl("scale statefulset/%s --replicas=0", r.Owner.StatefulSet),
			r.kubectl("wait --for=delete --timeout=5m pod/%s", strings.Join(r.running(), " pod/")),
		}},
		r.removeVolumes(),
		Step{
			Title: "Configure the first member as a cluster of one", Why: "druid writes the whole list back later.",
			Commands: []string{r.kubectl("patch configmap/%s --type merge -p %s", d.ConfigMap, Quote(r.configPatch()))},
		},
		Step{
			Title: "Start the first member, which restores from the store", Why: "The log of its container backup-restore says from what and how far.",
			Commands: []string{
				r.kubectl("scale statefulset/%s --replicas=1", r.Owner.StatefulSet),
				r.kubectl("wait --for=create --timeout=1m pod/%s", r.Members[0].Pod),
				r.kubectl("wait --for=condition=Ready --timeout=15m pod/%s", r.Members[0].Pod),
			},
		},
		r.handsOn())
	// Nothing cuts clients here: a member joins through their Service.
	end := r.end()
	end[1].Title, end[1].Commands = "Think of the clients", nil
	return append(steps, end...)
}

// handsOff has druid leave alone what the steps change, as far as it isn't told so already.
func (r Plan) handsOff() Step {
	step := Step{Title: "Have druid keep its hands off"}
	var set []string
	for _, key := range []string{traffic.SuspendAnnotation, unprotection} {
		if _, there := r.Owner.Annotations[key]; !there {
			set = append(set, key+"=")
		}
	}
	if len(set) == 0 {
		step.Why = "It does so already."
		return step
	}
	step.Commands = []string{r.kubectl("annotate --overwrite etcd/%s %s", r.Owner.Name, strings.Join(set, " "))}
	return step
}

// handsOn has druid make the other members, and leaves its annotations as they were found.
func (r Plan) handsOn() Step {
	step := Step{
		Title: "Have druid make the others", Commands: []string{
			r.kubectl("annotate --overwrite etcd/%s %s- %s=%s", r.Owner.Name, traffic.SuspendAnnotation, druidv1alpha1.DruidOperationAnnotation, druidv1alpha1.DruidOperationReconcile),
			r.kubectl("wait --for=jsonpath='{.status.readyReplicas}'=%d --timeout=15m statefulset/%s", len(r.Members), r.Owner.StatefulSet),
			r.kubectl("wait --for=condition=AllMembersReady --timeout=15m etcd/%s", r.Owner.Name),
		},
	}
	var back []string
	if _, there := r.Owner.Annotations[unprotection]; !there {
		back = append(back, unprotection+"-")
	}
	if was, there := r.Owner.Annotations[traffic.SuspendAnnotation]; there {
		// druid ends what it has begun first, and takes the annotation away at its end. Its
		// state need not be Succeeded by then: see druidBusy.
		step.Commands = append(step.Commands, fmt.Sprintf(endsReconcile,
			r.kubectl("get etcd/%s -o jsonpath='{.metadata.annotations.%s}'", r.Owner.Name, strings.ReplaceAll(druidv1alpha1.DruidOperationAnnotation, ".", `\.`))))
		back = append(back, Quote(traffic.SuspendAnnotation+"="+was))
	}
	if len(back) > 0 {
		step.Commands = append(step.Commands, r.kubectl("annotate etcd/%s %s", r.Owner.Name, strings.Join(back, " ")))
	}
	return step
}

// endsReconcile are lines that wait until an Etcd's annotation is gone, a quarter of an hour.
const endsReconcile = `for look in $(seq 450); do
  told=$(%s || echo unknown)
  [ -z "$told" ] && break
  sleep 2
done
[ -z "$told" ] || { echo "etcd-druid has not ended its reconcile"; false; }`

// removeVolumes takes away what members would start from instead of the store.
func (r Plan) removeVolumes() Step {
	step := Step{Title: "Remove the members' volumes and leases", Why: "The volumes themselves stay, as PersistentVolumes that are Released, until you delete them."}
	claims := slices.DeleteFunc(slices.Clone(r.Druid.Claims), func(c string) bool { return slices.Contains(r.Gone, c) })
	bound := slices.DeleteFunc(slices.Clone(claims), func(c string) bool { return slices.Contains(r.Unbound, c) })
	if len(bound) > 0 {
		volume := r.kubectl("get pvc $claim -o jsonpath='{.spec.volumeName}'")
		step.Commands = append(step.Commands,
			fmt.Sprintf("for claim in %s; do\n  kubectl%s patch pv \"$(%s)\" -p '{\"spec\":{\"persistentVolumeReclaimPolicy\":\"Retain\"}}'\ndone", strings.Join(bound, " "), r.Context, volume))
	}
	if len(claims) > 0 {
		step.Commands = append(step.Commands, r.kubectl("delete pvc %s", strings.Join(claims, " ")))
	} else {
		step.Why = "The volumes are gone already."
	}
	step.Commands = append(step.Commands, r.kubectl("delete lease --ignore-not-found %s", strings.Join(r.Druid.Leases, " ")))
	return step
}

func (r Plan) keepInStore() Step {
	step := r.keep()
	step.Why = "The store is kept as it is."
	step.Commands = append(step.Commands, r.plugin("snapshot list %s", r.target()))
	return step
}

func (r Plan) configPatch() string {
	text, err := json.Marshal(map[string]any{"data": map[string]string{"etcd.conf.yaml": r.Druid.Config}})
	if err != nil {
		return "" // strings always marshal
	}
	return string(text)
}

// intoStore are the steps that make the snapshot the last one in the store.
func (r Plan) intoStore() []Step {
	file := r.File
	var steps []Step
	switch dir := r.dir(); {
	case r.Bump > 0:
		step := Step{Title: "Raise the revision on this machine", Why: "It takes " + r.toolNote() + " backup-restore raises none. The hash is appended as etcd has it."}
		line := append([]string{fmt.Sprintf("%s snapshot restore %s", r.tool(), Quote(r.File)), "--data-dir " + dir}, r.bumpFlags()...)
		file = dir + ".db"
		step.Commands = append([]string{strings.Join(line, " \\\n  ")}, withHash(dir+"/member/snap/db", file)...)
		steps = append(steps, step)
	case !r.Snapshot.Hashed:
		file = dir + ".db"
		steps = append(steps, Step{
			Title: "Append the hash on this machine", Why: "As etcd has it: backup-restore refuses a snapshot without.", Commands: withHash(Quote(r.File), file),
		})
	}
	name := fmt.Sprintf("Full-00000000-%08d-%d", r.restored(), r.At.Unix())
	put := Step{
		Title: "Put it into the backup store as the last full snapshot",
		Why:   fmt.Sprintf("The one with the highest revision is restored. If the store has one above %d, set a higher --bump-revision.", r.restored()),
	}
	if r.Druid.StorePod == "" {
		put.Commands = []string{uploadCommand(r.Druid.Store, Quote(file), name)}
	} else {
		put.Why += " It is a directory of the nodes, which all of them must share."
		put.Commands = r.putOnNode(Quote(file), name)
	}
	return append(steps, put)
}

// putOnNode are the commands that bring a file into a directory of the nodes. Sidecars that
// run read what is there, and take the name with anything at its end for a snapshot: it
// gets that when it is whole.
func (r Plan) putOnNode(file, name string) []string {
	pod, dir := "restore-"+r.Owner.StatefulSet, r.Druid.StoreDir
	part := dir + "/restore.part"
	in := func(flag, command string) string { return r.kubectl("exec %s%s -- sh -c '%s'", flag, pod, command) }
	put := in("-i ", fmt.Sprintf("mkdir -p -m 700 %s && cat > %s", dir, part)) + " < " + file
	same := fmt.Sprintf(`[ "$(sha256sum < %s)" = "$(%s)" ]`, file, in("", "sha256sum < "+part))
	return []string{
		fmt.Sprintf("%s <<'EOF'\n%sEOF", r.kubectl("apply -f -"), strings.ReplaceAll(r.Druid.StorePod, podMark, r.Owner.StatefulSet)),
		r.kubectl("wait --for=condition=Ready --timeout=5m pod/%s", pod),
		// kubectl exec can lose the end of a stream without an error.
		fmt.Sprintf("for attempt in 1 2 3 4 5; do\n  %s &&\n    %s && break\ndone", put, same),
		same + ` && echo "the same" || { echo "NOT the same, bring it there again"; false; }`,
		in("", fmt.Sprintf("mv %s %s/%s", part, dir, name)),
		r.kubectl("delete pod --wait %s", pod),
	}
}

// withHash are the commands that make a snapshot of a database.
func withHash(database, file string) []string {
	return []string{
		fmt.Sprintf("{ cat %[1]s; openssl dgst -sha256 -binary %[1]s; } > %[2]s", database, file),
		"kubectl etcd snapshot status " + file,
	}
}

// uploadCommand is the provider's own tool's.
func uploadCommand(s *observe.BackupStore, file, name string) string {
	object := s.Prefix + "/v2/" + name
	switch s.Provider {
	case "S3", "aws":
		return fmt.Sprintf("aws s3 cp %s s3://%s/%s", file, s.Container, object)
	case "GCS", "gcp":
		return fmt.Sprintf("gcloud storage cp %s gs://%s/%s", file, s.Container, object)
	case "ABS", "azure":
		return fmt.Sprintf("az storage blob upload --container-name %s --name %s --file %s", s.Container, object, file)
	case "Swift", "openstack":
		return fmt.Sprintf("swift upload %s %s --object-name %s", s.Container, file, object)
	case "OSS", "alicloud":
		return fmt.Sprintf("ossutil cp %s oss://%s/%s", file, s.Container, object)
	}
	return fmt.Sprintf("cp %s THE-STORE/%s/%s    # provider %s: below the directory that its nodes mount; owned by the pods' user", file, s.Container, object, s.Provider)
}

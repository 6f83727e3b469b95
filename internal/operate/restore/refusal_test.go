// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// wantRefusal compares an error with the text that it must have, empty for no error.
func wantRefusal(t *testing.T, name string, err error, text string) {
	t.Helper()
	refused := new(operate.RefusedError)
	if text == "" && err != nil || text != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), text)) {
		t.Errorf("%s: %v, want %q", name, err, text)
	}
}

// podNamed is a variable that has the pod's name.
func podNamed(name string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}
}

// TestRestoreUnknownManager: without knowledge of what adds members, a plan must not add them.
func TestRestoreUnknownManager(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		change   etcdconf.MemberChange
		oneByOne bool
		refused  string
	}{
		{"unread", etcdconf.MemberChange{Unread: "/x: forbidden"}, true, "it is not known what adds the others to the first"},
		{"unread, and all start at once", etcdconf.MemberChange{Unread: "/x: forbidden"}, false, ""},
		{"read", etcdconf.MemberChange{Verb: "add"}, true, ""},
	} {
		o := owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 3, MemberChanges: []etcdconf.MemberChange{row.change}}
		r := Plan{Owner: o, OneByOne: row.oneByOne, Files: Files{Manifest: "a pod"}}
		wantRefusal(t, row.name, r.refusal(), row.refused)
	}
}

// TestRestoreOnlyOurs: a plan for a part of a cluster would split it.
func TestRestoreOnlyOurs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, cluster, refused string
		replicas               int32
		size                   int
	}{
		{name: "one StatefulSet for each member", cluster: "etcd1-0=http://etcd1-0.etcd1:2380,etcd2-0=http://etcd2-0.etcd2:2380,etcd3-0=http://etcd3-0.etcd3:2380", replicas: 1, size: 1,
			refused: "its initial cluster also has etcd2-0 and etcd3-0, which StatefulSet etcd1 doesn't run"},
		{name: "all are its own", cluster: "etcd1-0=http://etcd1-0.etcd1:2380,etcd1-1=http://etcd1-1.etcd1:2380", replicas: 2, size: 2},
		{name: "scaled in", cluster: "etcd1-0=http://etcd1-0.etcd1:2380,etcd1-1=http://etcd1-1.etcd1:2380", replicas: 1, size: 1},
		{name: "names of another form", cluster: "a=http://etcd1-0.etcd1:2380,b=http://etcd1-1.etcd1:2380", replicas: 1, size: 1},
		{name: "by addresses, as many as replicas", cluster: "a=http://10.0.0.1:2380,b=http://10.0.0.2:2380", replicas: 2, size: 1},
		{name: "etcd's default", cluster: "default=http://localhost:2380", replicas: 1, size: 1},
		{name: "none", replicas: 1, size: 1},
	} {
		r := Plan{Owner: owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "etcd1", StatefulSet: "etcd1", Replicas: row.replicas}}
		wantRefusal(t, row.name, r.onlyOurs(etcdconf.Config{Name: "etcd1-0", InitialCluster: row.cluster}, row.size), row.refused)
	}
}

// TestRestoreOnePath: what is printed goes to one path for all pods, and a member that
// finds nothing in its own goes on with its old data.
func TestRestoreOnePath(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, args, refused string
		size                int
	}{
		{name: "one for all", args: "--data-dir=/data/etcd --wal-dir=/wal", size: 3},
		{name: "data of each pod's own", args: "--data-dir=/data/$(POD_NAME)", size: 3, refused: "pod main-0 keeps its data in /data/main-0 and pod main-1 in /data/main-1"},
		{name: "a log of each pod's own", args: "--data-dir=/data/etcd --wal-dir=/wal/$(POD_NAME)", size: 3, refused: "in /data/etcd and /wal/main-0 and pod main-1 in /data/etcd and /wal/main-1"},
		{name: "one member alone", args: "--data-dir=/data/$(POD_NAME)", size: 1},
	} {
		sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main"}}
		sts.Spec.Template.Spec.Containers = []corev1.Container{{
			Name: "etcd", Image: "etcd:v3.6.5", Command: []string{"etcd"}, Env: []corev1.EnvVar{podNamed("POD_NAME")},
			Args: append(strings.Fields(row.args), "--name=$(POD_NAME)", "--initial-advertise-peer-urls=http://$(POD_NAME).main:2380"),
		}}
		r := &Plan{Owner: owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main"}}
		_, err := r.findMembers(sts, nil, row.size)
		wantRefusal(t, row.name, err, row.refused)
	}
}

// TestRestoreUnknownSettings: a setting that isn't known is not etcd's default.
func TestRestoreUnknownSettings(t *testing.T) {
	t.Parallel()
	all := []string{"--name=a", "--initial-advertise-peer-urls=http://a:2380", "--data-dir=/d"}
	for i := range len(all) + 1 {
		left := slices.Clone(all)
		refused := ""
		if i < len(all) {
			left, refused = slices.Delete(left, i, i+1), "pod team/main-0 doesn't show all of --name"
		}
		sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main"}}
		sts.Spec.Template.Spec.Containers = []corev1.Container{{Name: "etcd", Command: []string{"sh", "-c", ". /x\nexec etcd " + strings.Join(left, " ")}}}
		r := &Plan{Owner: owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main"}}
		_, err := r.findMembers(sts, nil, 1)
		if (err == nil) != (refused == "") || err != nil && !strings.Contains(err.Error(), refused) {
			t.Errorf("%q: %v, want %q", left, err, refused)
		}
	}
}

// TestRestoreSubPath puts the mark for the pod's name alone: another part of the volume
// would be written otherwise, and the old data found again.
func TestRestoreSubPath(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ path, expr, want, refused string }{
		{},
		{path: "etcd", want: "etcd"},
		{path: "$(literally)", want: "$(literally)"},
		{expr: "of/$(POD_NAME)", want: "of/" + podMark},
		{expr: "$(ETCD_NAME)", want: podMark},
		{expr: "$(TEAM)/$(POD_NAME)", refused: "subPathExpr $(TEAM)/$(POD_NAME) of volume data"},
	} {
		c := &corev1.Container{Name: "etcd", Env: []corev1.EnvVar{podNamed("POD_NAME"), podNamed("ETCD_NAME"), {Name: "TEAM", Value: "desk"}}}
		got, err := Plan{}.subPath(c, corev1.VolumeMount{Name: "data", MountPath: "/data", SubPath: row.path, SubPathExpr: row.expr})
		wantRefusal(t, row.path+row.expr, err, row.refused)
		if got != row.want {
			t.Errorf("%s%s: %q, want %q", row.path, row.expr, got, row.want)
		}
	}
}

// etcdOfSize reads an Etcd with that many replicas.
type etcdOfSize struct {
	client.Reader

	size int32
}

func (e etcdOfSize) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	o.(*druidv1alpha1.Etcd).Spec.Replicas = e.size
	return nil
}

// TestRestoreDruidSize: druid scales an Etcd to the size in its spec, whatever a plan has.
func TestRestoreDruidSize(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		spec, asked int32
		refused     string
	}{
		{spec: 3},
		{spec: 3, asked: 3},
		{spec: 3, asked: 1, refused: "--replicas is 1 and its spec.replicas 3"},
		{refused: "kubectl etcd -n team scale etcd/main --replicas 3"},
		{asked: 3, refused: "hibernated"},
	} {
		r := Plan{Flags: step.Flags{Kubectl: "-n team"}, Owner: owner.Owner{WorkloadKind: owner.DruidStatefulSet, Kind: "Etcd", Namespace: "team", Name: "main"}}
		r.Snapshot.Members = make([]snapshot.Member, 3)
		got, err := r.druidSize(t.Context(), etcdOfSize{size: row.spec}, row.asked)
		wantRefusal(t, fmt.Sprint(row.spec, row.asked), err, row.refused)
		if row.refused == "" && got != row.spec {
			t.Errorf("%d members, want %d", got, row.spec)
		}
	}
}

// planRow changes a plan's facts. It has texts that the plan must have, one that it must not
// have, and that of the refusal, if it is refused.
type planRow struct {
	name    string
	change  func(*Plan)
	has     []string
	not     string
	refused string
}

func (row planRow) test(t *testing.T, r Plan) {
	t.Helper()
	if row.change != nil {
		row.change(&r)
	}
	steps, _, err := Steps(r)
	wantRefusal(t, row.name, err, row.refused)
	var lines []string
	for _, s := range steps {
		lines = append(append(lines, s.Title, s.Why), s.Commands(r.Flags)...)
	}
	text := strings.Join(lines, "\n")
	for _, part := range row.has {
		if !strings.Contains(text, part) {
			t.Errorf("%s: it lacks %q:\n%s", row.name, part, text)
		}
	}
	if row.not != "" && strings.Contains(text, row.not) {
		t.Errorf("%s: it has %q:\n%s", row.name, row.not, text)
	}
}

// druidRestore is a plan's facts of an Etcd of three.
func druidRestore() Plan {
	r := Plan{
		File: "main.db", Etcd: "3.5.21", Flags: step.Flags{Kubectl: "-n team"}, At: time.Unix(0, 0), Bump: DefaultBump,
		Owner: owner.Owner{WorkloadKind: owner.DruidStatefulSet, Distribution: flavour.Druid, Kind: "Etcd", Namespace: "team", Name: "main", StatefulSet: "main"},
		Druid: &Druid{Store: &backupstore.Store{Provider: "S3", Container: "bucket", Prefix: "main"}, ConfigMap: "main-config"},
	}
	r.Snapshot.Hashed = true
	for _, pod := range []string{"main-0", "main-1", "main-2"} {
		r.Members = append(r.Members, Member{Pod: pod, Name: pod})
		r.Druid.Claims = append(r.Druid.Claims, "main-"+pod)
		r.Druid.Leases = append(r.Druid.Leases, pod)
	}
	return r
}

// TestRestoreDruid: volumes are only deleted if the store has their data.
func TestRestoreDruid(t *testing.T) {
	t.Parallel()
	const hash = "{ cat main.db; openssl dgst -sha256 -binary main.db; } > restored-19700101T000000.db"
	for _, row := range []planRow{
		{name: "as it mostly is", has: []string{"for claim in main-main-0 main-main-1 main-main-2; do", "delete pvc --ignore-not-found main-main-0 main-main-1 main-main-2", "aws s3 cp restored-19700101T000000.db s3://bucket"}, not: hash},
		{name: "no store", change: func(r *Plan) { r.Druid.Store = nil }, refused: "has no backup store (spec.backup.store)"},
		{name: "client traffic is cut", change: func(r *Plan) { r.Druid.Cut = true }, refused: "end the cut first: kubectl etcd -n team restore-client-traffic etcd/main"},
		{name: "a claim without a volume", change: func(r *Plan) { r.Unbound = []string{"main-main-1"} }, has: []string{"for claim in main-main-0 main-main-2; do", "delete pvc --ignore-not-found main-main-0 main-main-1 main-main-2"}},
		{name: "no claim has a volume", change: func(r *Plan) { r.Unbound = r.Druid.Claims }, has: []string{"delete pvc --ignore-not-found main-main-0 main-main-1 main-main-2"}, not: "patch pv"},
		{name: "the store has a higher revision", change: func(r *Plan) { r.Druid.Stored = DefaultBump + 500 }, refused: "which has or may get revision 1000000500, and the snapshot would be at 1000000000; raise it with --bump-revision 2000000500"},
		{name: "the store gets a higher revision than the file as it is", change: func(r *Plan) { r.Bump, r.Newest, r.Snapshot.Revision, r.Snapshot.Written = 0, 200, 100, 100 }, refused: "raise it with --bump-revision 1000000100"},
		{name: "the store has the same revision", change: func(r *Plan) { r.Bump, r.Druid.Stored, r.Snapshot.Revision, r.Snapshot.Written = 0, 100, 100, 100 }, refused: "raise it with --bump-revision 1000000000"},
		{name: "the store has an earlier revision", change: func(r *Plan) { r.Bump, r.Druid.Stored, r.Snapshot.Revision, r.Snapshot.Written = 0, 99, 100, 100 }, has: []string{"aws s3 cp main.db s3://bucket"}},
		{name: "the file as it is", change: func(r *Plan) { r.Bump = 0 }, has: []string{"aws s3 cp main.db s3://bucket"}, not: hash},
		{name: "a database as it is", change: func(r *Plan) { r.Bump, r.Snapshot.Hashed = 0, false }, has: []string{hash, "aws s3 cp restored-19700101T000000.db s3://bucket"}},
	} {
		row.test(t, druidRestore())
	}
}

// plainRestore is a plan's facts of a StatefulSet of three.
func plainRestore() Plan {
	r := Plan{
		File: "main.db", Etcd: "3.6.5", Flags: step.Flags{Kubectl: "-n team"}, At: time.Unix(0, 0), Bump: DefaultBump, Clients: true,
		Owner: owner.Owner{WorkloadKind: owner.StatefulSet, Distribution: flavour.Plain, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 3},
		Files: Files{DataDir: "/data/etcd", Claims: []string{"data-__POD__"}, Manifest: "kind: Pod\n"},
	}
	r.Snapshot.Hashed, r.Snapshot.Revision, r.Snapshot.Written = true, 100, 100
	for _, pod := range []string{"main-0", "main-1", "main-2"} {
		r.Members = append(r.Members, Member{Pod: pod, Name: pod, PeerURL: "http://" + pod + ".main:2380"})
	}
	return r
}

// TestRestoreUnknownDirectory: data in a directory that only the pod knows are on an unknown claim.
func TestRestoreUnknownDirectory(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{"$WAL/log": "which directory that is", "/var/log": "on no PersistentVolumeClaim"} {
		r := plainRestore()
		r.Files.UnmountedDataDir, r.Files.Manifest = dir, ""
		if err := r.refusal(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
}

// TestRestoreForeignMembers: a snapshot of another cluster isn't restored unnoticed.
func TestRestoreForeignMembers(t *testing.T) {
	t.Parallel()
	theirs := []snapshot.Member{{ID: 0xa, Name: "other-0", PeerURLs: []string{"http://other-0.other:2380"}}, {ID: 0xb}}
	listed := []etcd.Listed{{ID: 0xb, PeerURLs: []string{"http://10.0.0.1:2380"}}}
	for _, row := range []struct {
		name   string
		change func(*Plan)
		want   string
	}{
		{"another's", func(r *Plan) { r.Snapshot.Members = theirs }, "other-0, b"},
		{"a snapshot without members", func(*Plan) {}, ""},
		{"one is on the list", func(r *Plan) { r.Snapshot.Members, r.List = theirs, listed }, ""},
		{"one is due", func(r *Plan) { r.Snapshot.Members = theirs; r.Members[1].PeerURL = "http://other-0.other:2380" }, ""},
		{"compacted by backup-restore", func(r *Plan) {
			r.Snapshot.Members = []snapshot.Member{{ID: 0xc, Name: "default", PeerURLs: []string{"http://localhost:2380"}}}
		}, ""},
		{"nothing to compare", func(r *Plan) { r.Snapshot.Members, r.Members = theirs, []Member{{Pod: "main-0"}} }, ""},
	} {
		r := plainRestore()
		row.change(&r)
		if got := r.foreignMembers(); got != row.want {
			t.Errorf("%s: foreign members are %q, want %q", row.name, got, row.want)
		}
	}
}

// TestRestoreStatefulSet: no claim is lost that isn't meant to be, and nothing is begun
// that the members' own controllers would undo.
func TestRestoreStatefulSet(t *testing.T) {
	t.Parallel()
	const scaled = "kubectl -n team scale statefulset/main --replicas=3\n"
	const retained = `"whenScaled":"Retain"}}}'` + "\n"
	const waited = "kubectl -n team wait --for=delete --timeout=5m pod/main-0 pod/main-1 pod/main-2\n"
	for _, row := range []planRow{
		{name: "as it mostly is", has: []string{waited, "cut-client-traffic"}, not: "Retain"},
		{name: "claims that a scale-in takes", change: func(r *Plan) { r.DeletesClaims = true }, has: []string{retained + "kubectl -n team scale statefulset/main --replicas=0\n" + waited}},
		{name: "fewer members than now", change: func(r *Plan) { r.Members = r.Members[:1] }, has: []string{waited}},
		{
			name: "a claim is gone, and fewer members than now", change: func(r *Plan) { r.Members, r.Gone, r.DeletesClaims = r.Members[:1], []string{"data-main-0"}, true },
			has: []string{retained + scaled, waited},
		},
		{name: "a claim is gone of members that are stopped", change: func(r *Plan) { r.Owner.Replicas, r.Gone = 0, []string{"data-main-0"} }, has: []string{scaled}},
		{
			name: "a claim that members share, one by one", change: func(r *Plan) { r.OneByOne, r.Files.Claims = true, []string{"wal-__POD__", "all"} },
			refused: "share PersistentVolumeClaim all",
		},
		{name: "a claim that members share", change: func(r *Plan) { r.Files.Claims = []string{"all"} }, has: []string{waited}},
		{name: "a start script that recovers", change: func(r *Plan) { r.RestartsFromSnapshot, r.Owner.Distribution = true, flavour.Bitnami }, refused: "--set disasterRecovery.enabled=false"},
		{name: "below what clients have seen", change: func(r *Plan) { r.Newest = DefaultBump + 100 }, refused: "it is at revision 1000000100, and would be at 1000000100: clients that watch don't notice a revision that isn't above all they have seen; raise it with --bump-revision 2000000000"},
		{name: "an empty snapshot", change: func(r *Plan) { r.Snapshot.Revision, r.Snapshot.Written = 1, 0 }, has: []string{"must be 1000000000 or more"}},
		{name: "all that was written is gone", change: func(r *Plan) { r.Snapshot.Written, r.Bump = 0, 50 }, has: []string{"must be 100 or more"}},
		{name: "just above", change: func(r *Plan) { r.Newest = DefaultBump + 99 }, has: []string{waited}},
		{name: "not raised, as was asked for", change: func(r *Plan) { r.Newest, r.Bump = 200, 0 }, has: []string{waited}},
		{name: "clients that can't be cut off", change: func(r *Plan) { r.Clients, r.Uncut = false, "member main-2 is a learner" }, has: []string{"refused: member main-2 is a learner. Stop the clients themselves"}, not: "kubectl etcd -n team cut-client-traffic"},
		{name: "clients without a Service", change: func(r *Plan) { r.Clients = false }, has: []string{"They have no Service of their own"}, not: "client-traffic"},
	} {
		row.test(t, plainRestore())
	}
}

// TestRestoreRecovers reads the variable as the start script does.
func TestRestoreRecovers(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"yes": true, "True": true, "1": true, "no": false, "": false} {
		spec := &corev1.PodSpec{Containers: []corev1.Container{
			{Name: "other", Env: []corev1.EnvVar{{Name: "ETCD_DISASTER_RECOVERY", Value: "yes"}}},
			{Name: "etcd", Env: []corev1.EnvVar{{Name: "ETCD_DISASTER_RECOVERY", Value: value}}},
		}}
		if got := restartsFromSnapshot(spec, "etcd", flavour.Of(flavour.Bitnami).RecoveryEnv); got != want {
			t.Errorf("%q: it recovers by itself: %t, want %t", value, got, want)
		}
	}
}

// TestRestoreUserUnknown: what the pod beside a volume writes is its own user's.
func TestRestoreUserUnknown(t *testing.T) {
	t.Parallel()
	one, yes, no := int64(1), true, false
	for _, row := range []struct {
		name string
		pod  *corev1.PodSecurityContext
		c    *corev1.SecurityContext
		want bool
	}{
		{name: "nothing is set"},
		{name: "of the pod", pod: &corev1.PodSecurityContext{RunAsUser: &one, FSGroup: &one, RunAsNonRoot: &yes}},
		{name: "of the container", pod: &corev1.PodSecurityContext{FSGroup: &one}, c: &corev1.SecurityContext{RunAsUser: &one}},
		{name: "a group alone", pod: &corev1.PodSecurityContext{FSGroup: &one}, want: true},
		{name: "not root", c: &corev1.SecurityContext{RunAsNonRoot: &yes}, want: true},
		{name: "not root, by the pod", pod: &corev1.PodSecurityContext{RunAsNonRoot: &yes}, want: true},
		{name: "root after all", pod: &corev1.PodSecurityContext{RunAsNonRoot: &yes}, c: &corev1.SecurityContext{RunAsNonRoot: &no}},
	} {
		if got := userUnknown(row.pod, row.c); got != row.want {
			t.Errorf("%s: %t, want %t", row.name, got, row.want)
		}
		r := plainRestore()
		r.Files.UserUnknown, r.Files.Image = row.want, "busybox"
		_, warnings, err := Steps(r)
		wantRefusal(t, row.name, err, "")
		if warned := strings.Contains(strings.Join(warnings, "\n"), "as that of busybox"); warned != row.want {
			t.Errorf("%s: the warnings are %q", row.name, warnings)
		}
	}
}

// TestRestoreAsked: a snapshot is only saved before of what snapshot save takes it of.
func TestRestoreAsked(t *testing.T) {
	t.Parallel()
	gone := etcd.Member{Err: errors.New("gone"), Revision: 9}
	for _, row := range []struct {
		name    string
		members []etcd.Member
		split   bool
		answers bool
		newest  int64
		version string
	}{
		{name: "no member"},
		{name: "no member answers", members: []etcd.Member{gone}},
		{name: "one answers", members: []etcd.Member{gone, {Version: "3.6.5", Revision: 5}, {Version: "3.6.5", Revision: 7}}, answers: true, newest: 7, version: "3.6.5"},
		{name: "a learner alone", members: []etcd.Member{gone, {Version: "3.6.5", Revision: 5, Learner: true}}, newest: 5, version: "3.6.5"},
		{name: "what is corrupt alone", members: []etcd.Member{{Version: "3.6.5", Revision: 5, Alarms: []string{"CORRUPT"}}}, newest: 5, version: "3.6.5"},
		{name: "two clusters", members: []etcd.Member{{Version: "3.6.5", Revision: 5}}, split: true, newest: 5, version: "3.6.5"},
	} {
		r := Plan{}
		r.SetSurvey(etcd.Survey{Members: row.members}, row.split)
		if r.Answers != row.answers || r.Newest != row.newest || r.Etcd != row.version {
			t.Errorf("%s: answers %t, want %t; revision %d, want %d; etcd %q, want %q", row.name, r.Answers, row.answers, r.Newest, row.newest, r.Etcd, row.version)
		}
	}
}

// TestSeparateEtcds: etcds of their own are not restored from one snapshot, unless the template's list makes them one
// cluster that fell apart.
func TestSeparateEtcds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		singles, unlisted bool
		want              string
	}{
		{true, true, "each pod is an etcd of its own with its own data"},
		{true, true, "kubectl annotate statefulset main -n team kubectl-etcd.dev/etcd=false"},
		{true, false, ""},
		{false, true, ""},
	} {
		r := plainRestore()
		r.SetSurvey(etcd.Survey{Singles: row.singles}, false)
		r.Unlisted = row.unlisted
		wantRefusal(t, fmt.Sprintf("%+v", row), r.separate(), row.want)
		wantRefusal(t, fmt.Sprintf("the plan, %+v", row), r.refusal(), row.want)
	}
}

// TestFenceSeveral: one command removes the pods of all nodes that are cut off, and one lets pods run there again.
func TestFenceSeveral(t *testing.T) {
	t.Parallel()
	r := plainRestore()
	r.Unreachable = []Unreachable{{Pod: "main-1", Node: "node-1"}, {Pod: "main-2", Node: "node-2"}, {Pod: "main-3", Node: "node-1"}}
	wantRefusal(t, "several", r.refusal(), "pod main-1 is on node node-1, pod main-2 is on node node-2 and pod main-3 is on node node-1, none of which is Ready: their members may still run")
	wantRefusal(t, "taint", r.refusal(), "then run kubectl taint nodes node-1 node-2 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute, which removes the pods")
	wantRefusal(t, "end", r.refusal(), "remove the taint: kubectl taint nodes node-1 node-2 node.kubernetes.io/out-of-service-")
}

// TestFence: nothing is planned while a member may run on a node that is cut off.
func TestFence(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]bool{"True": false, "False": true, "Unknown": true} {
		c := operatetest.NewCluster(t)
		c.Create(apitest.Object{"apiVersion": "v1", "kind": "Node", "metadata": apitest.Object{"name": "node-1"}, "status": apitest.Object{
			"conditions": []any{apitest.Object{"type": "Ready", "status": status}},
		}})
		r := plainRestore()
		if err := r.findNodes(t.Context(), c.Client(t), &observe.Reader{Reader: c.Client(t), Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}); err != nil {
			t.Fatal(err)
		}
		_, _, err := Steps(r)
		if refused := err != nil && strings.Contains(err.Error(), "pod main-1 is on node node-1, which is not Ready"); refused != want {
			t.Errorf("node Ready is %s: %v, want a refusal %t", status, err, want)
		}
	}
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/certtest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// well is a cluster of three that nothing is wrong with, and what its next two
// members would be.
func well() *observation {
	s := &observation{
		sts:    &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main"}},
		pods:   map[string]*corev1.Pod{},
		claims: map[string][]*corev1.PersistentVolumeClaim{},
	}
	s.Replicas = 3
	for ordinal := range 5 {
		name := fmt.Sprintf("main-%d", ordinal)
		url := "https://" + name + ".main.team.svc:2380"
		replica := membership.Replica{Pod: name, URL: url}
		s.configs = append(s.configs, etcdconf.Config{Container: "etcd", AdvertisePeer: []string{url}, ListenPeer: []string{"https://0.0.0.0:2380"}})
		if ordinal < 3 {
			id := uint64(ordinal + 1)
			replica.UID, replica.Updated = "u", true
			s.pods[name] = &corev1.Pod{}
			s.Members = append(s.Members, membership.Peer{ID: id, URL: url, Ordinal: ordinal, Healthy: true, Leader: ordinal == 0})
			s.survey.Members = append(s.survey.Members, etcd.Member{Pod: name, ID: id, LeaderID: 1, Leader: ordinal == 0})
		}
		s.Ordinals = append(s.Ordinals, replica)
	}
	return s
}

// preflightRows are what keeps a scale or a replacement from beginning, each with
// one thing that is wrong, and a part of the refusal, empty where
// nothing is refused.
var preflightRows = []struct {
	name string
	is   func(s *observation)
	// size is how many members there shall be, 0 for five and -1 for none; cures is the pod whose
	// member is replaced, empty for a scale.
	size      int
	replacing string
	want      string
	// warns is a word of what is warned of, empty for whatever it is.
	warns string
}{
	{name: "all well"},
	{name: "one", size: 1},
	{name: "none", size: -1, is: claims(nil), want: "a cluster can't have 0 members: to stop all of them and keep their data, take a snapshot and run kubectl scale statefulset/main --replicas 0 -n team"},
	{name: "none, and the claims are deleted", size: -1, is: claims(&appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenScaled: appsv1.DeletePersistentVolumeClaimRetentionPolicyType}),
		want: `take a snapshot, then run kubectl patch statefulset main -n team --type merge -p '{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Retain"}}}' and then kubectl scale statefulset/main --replicas 0 -n team`},
	{name: "none, and there are no claims", size: -1, want: "the members' data may end with their pods. Take a snapshot first if you want to stop all of them"},
	{name: "an even size", size: 4, want: "4 members tolerate no more failures than 3, and cost more: choose 3 or 5"},
	{name: "a learner", is: func(s *observation) { s.Members[2].Learner = true }, want: "is a learner"},
	{name: "a member without a pod", is: func(s *observation) { s.Members[2].Ordinal = -1 }, want: "which no pod of the StatefulSet has"},
	{name: "one is down", is: func(s *observation) { s.Members[2].Healthy = false; s.survey.Members[2].Err = errors.New("timeout") }, want: "main-2 is not healthy: timeout"},
	{name: "the one that is replaced is down", is: func(s *observation) { s.Members[2].Healthy = false }, size: 3, replacing: "main-2"},
	{name: "another than the one that is replaced is down", is: func(s *observation) { s.Members[1].Healthy = false }, size: 3, replacing: "main-2", want: "remove it with kubectl etcd member remove"},
	{name: "NOSPACE", is: func(s *observation) { s.survey.Members[1].Alarms = []string{maintenance.NoSpace} }, want: "main-1 has an alarm: NOSPACE"},
	{name: "NOSPACE, and a member is replaced", is: func(s *observation) { s.survey.Members[1].Alarms = []string{maintenance.NoSpace} }, size: 3, replacing: "main-2", warns: "until kubectl etcd defrag statefulset/main -n team has run"},
	{name: "CORRUPT", is: func(s *observation) { s.survey.Members[1].Alarms = []string{maintenance.Corrupt} }, want: "main-1 has an alarm: CORRUPT"},
	{name: "CORRUPT, and that member is replaced", is: func(s *observation) { s.survey.Members[1].Alarms = []string{maintenance.Corrupt} }, size: 3, replacing: "main-1", warns: "until kubectl etcd alarm disarm statefulset/main -n team has run"},
	{name: "NOSPACE of who is gone", is: func(s *observation) { s.survey.Strays = stray(maintenance.NoSpace) }, want: "member 00000000000000ff (no longer in the member list) has an alarm: NOSPACE"},
	{name: "NOSPACE of who is gone, and a member is replaced", is: func(s *observation) { s.survey.Strays = stray(maintenance.NoSpace) }, size: 3, replacing: "main-2", warns: "until kubectl etcd defrag statefulset/main -n team has run"},
	{name: "CORRUPT of who is gone, and a member is replaced", is: func(s *observation) { s.survey.Strays = stray(maintenance.Corrupt) }, size: 3, replacing: "main-2", warns: "until kubectl etcd alarm disarm statefulset/main -n team has run"},
	{name: "more members than replicas", is: func(s *observation) { s.Replicas = 2 }, want: "etcd has 3 members and the StatefulSet asks for 2"},
	{name: "the last pod is no member", is: func(s *observation) { s.Members = s.Members[:2] }, want: `etcd has 2 members and the StatefulSet asks for 3: make them equal first: kubectl -n team patch statefulset/main --type merge -p '{"metadata":{"annotations":{"kubectl-etcd.dev/size":"2 at '$(date -u +%FT%TZ)'"}},"spec":{"replicas":2}}'`},
	{name: "a pod in the middle is no member", is: func(s *observation) { s.Members = []membership.Peer{s.Members[0], s.Members[2]} }, want: "make them equal first: main-1 has no member: kubectl etcd member replace statefulset/main main-1 -n team gives it one"},
	{name: "the first pod is no member", size: 1, is: func(s *observation) { s.Members = s.Members[1:] }, want: "kubectl etcd member replace statefulset/main main-0 -n team"},
	{name: "a pod in the middle and the last are no members", is: func(s *observation) { s.Members = s.Members[:1]; s.Replicas = 2; s.Members[0].Ordinal = 1 }, want: "kubectl etcd member replace statefulset/main main-0 -n team"},
	{name: "etcd-webhook holds a rollout", is: func(s *observation) {
		s.sts.Annotations = map[string]string{v1alpha1.RolloutValueAnnotation: "partition=0", v1alpha1.RolloutAuthorAnnotation: `{"type":"RollingUpdate"}`}
	}, want: "etcd-webhook holds the rollout of StatefulSet main"},
	{name: "a hold that a client has ended", is: func(s *observation) {
		s.sts.Annotations = map[string]string{v1alpha1.RolloutValueAnnotation: "partition=1", v1alpha1.RolloutAuthorAnnotation: `{"type":"RollingUpdate"}`}
	}},
	{name: "a rollout is held back", is: func(s *observation) { s.Ordinals[1].Updated = false }, want: "main-1 does not have the StatefulSet's latest template"},

	{name: "a member at its pod's IP", is: func(s *observation) {
		s.Members[1].URL, s.pods["main-1"].Status.PodIPs = "https://10.0.0.7:2380", []corev1.PodIP{{IP: "10.0.0.7"}}
	}, want: "an address that may change with the pod"},
	{name: "a member at the IP of its Service", is: func(s *observation) { s.Members[1].URL = "https://10.96.0.9:2380" }},
	{name: "a new member at an IP", is: func(s *observation) { s.Ordinals[3].URL = "https://10.96.0.9:2380" }, want: "main-3 would have the peer URL https://10.96.0.9:2380, which does not name the pod: set initial-advertise-peer-urls to its name in the headless Service"},
	{name: "a member at localhost", is: func(s *observation) { s.Members[1].URL = "http://localhost:2380" }, want: "which no other pod can reach"},
	{name: "a new member at localhost", is: func(s *observation) { s.Ordinals[3].URL = "http://127.0.0.1:2380" }, want: "main-3 would have the peer URL http://127.0.0.1:2380"},
	{name: "a new member without a name", is: func(s *observation) { s.Ordinals[4].URL = "https://0.0.0.0:2380" }, want: "which is not an address"},
	{name: "a new member with another's name", is: func(s *observation) { s.Ordinals[3].URL = "https://main-0.main.team.svc:2380" }, want: "does not name the pod"},
	{name: "a new member with a longer name", is: func(s *observation) { s.Ordinals[3].URL = "https://main-30.main.team.svc:2380" }, want: "does not name the pod"},
	{name: "two peer URLs", is: func(s *observation) { s.configs[3].AdvertisePeer = append(s.configs[3].AdvertisePeer, "x") }, want: "would have 2 peer URLs"},
	{name: "listens on localhost", is: func(s *observation) { s.configs[4].ListenPeer = []string{"http://localhost:2380"} }, want: "main-4 would listen for its peers on http://localhost:2380 only"},
	{name: "listens on localhost and elsewhere", is: func(s *observation) { s.configs[4].ListenPeer = []string{"http://[::1]:2380", "http://[::]:2380"} }},
	{name: "a claim that was left", is: func(s *observation) {
		s.claims["main-3"] = []*corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "data-main-3"}}}
	}, want: "kubectl delete pvc data-main-3 -n team"},
	{name: "a claim of a member that is there", is: func(s *observation) { s.claims["main-2"] = []*corev1.PersistentVolumeClaim{{}} }},
	{name: "a pod that is no member", is: func(s *observation) { s.Ordinals[3].UID = "u" }, want: "pod main-3 exists already"},
}

// claims gives the StatefulSet a claim template and a retention policy, nil for none.
func claims(policy *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy) func(s *observation) {
	return func(s *observation) {
		s.sts.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
		s.sts.Spec.PersistentVolumeClaimRetentionPolicy = policy
	}
}

// stray is an alarm of a member that is none any more.
func stray(kind string) []etcd.Alarm { return []etcd.Alarm{{MemberID: 0xff, Gone: true, Type: kind}} }

// TestTooMany: a mistyped size doesn't read a million ordinals.
func TestTooMany(t *testing.T) {
	t.Parallel()
	for size, refuses := range map[int]bool{0: false, 7: false, policy.MaxScale: false, policy.MaxScale + 2: true, 1_000_001: true} {
		if err := tooMany("scale", size); (err != nil) != refuses {
			t.Errorf("%d members: %v, want a refusal: %t", size, err, refuses)
		}
	}
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	for _, r := range preflightRows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			s, f, size := well(), &operate.Findings{}, r.size
			if r.is != nil {
				r.is(s)
			}
			if size == 0 {
				size = 5
			}
			size = max(size, 0)
			(&Members{Owner: mainOwner}).checkMembers(s, r.replacing, f)
			if r.replacing == "" {
				(&Members{Owner: mainOwner}).checkSize(t.Context(), s, size, f)
			}
			if size > s.Replicas {
				checkPeerURLs(s, f)
			}
			for ordinal := s.Replicas; ordinal < size; ordinal++ {
				checkReplica(s, ordinal, f)
			}
			refusedWith(t, f, r.want)
			if !strings.Contains(strings.Join(f.Warnings, "\n"), r.warns) {
				t.Errorf("warned of %q, want %q", f.Warnings, r.warns)
			}
		})
	}
}

// refusedWith holds findings to one word of a refusal, empty for none.
func refusedWith(t *testing.T, f *operate.Findings, want string) {
	t.Helper()
	got := strings.Join(f.Refusals, "\n")
	if want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("refused %q, want %q", got, want)
	}
}

func TestPreflightServices(t *testing.T) {
	t.Parallel()
	ready := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/readyz"}}}
	health := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/health"}}}
	members := []etcd.Member{{Version: "3.6.5"}}
	service := func(publish bool) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main"}, Spec: corev1.ServiceSpec{PublishNotReadyAddresses: publish}}
	}
	headless := func(publish bool) *corev1.Service {
		s := service(publish)
		s.Spec.ClusterIP = corev1.ClusterIPNone
		return s
	}
	peers := func(name string, s *corev1.Service) func(*operate.Findings) {
		sts := well().sts
		sts.Spec.ServiceName = "main"
		return func(f *operate.Findings) {
			judgePeerService(memberservices.PeerService{Name: name, Service: s}, sts, f)
		}
	}
	for _, c := range []struct {
		name  string
		judge func(f *operate.Findings)
		want  string
	}{
		{"peers have names", peers("main", headless(true)), ""},
		{"peers have names once Ready", peers("main", headless(false)), `kubectl patch service main -n team -p '{"spec":{"publishNotReadyAddresses":true}}'`},
		{"peers have names once Ready, in the clients' Service", peers("main", service(false)), "clients may use the Service as well, so give the peer URLs names in a headless Service"},
		{"no peer Service", peers("main", nil), `headless Service "main", which the StatefulSet names, does not exist`},
		{"peers have names in a Service each, once Ready", peers("main-3", service(false)), "kubectl patch service main-3 -n team"},
		{"peers have names in a Service each, and the new one has none", peers("main-3", nil), "Service main-3, which the peer URL of that pod names, does not exist"},
		{"peers have names elsewhere", peers("", nil), ""},
		{"clients find who is Ready", func(f *operate.Findings) {
			judgeClientServices([]corev1.Service{*service(false)}, ready, members, "", f)
		}, ""},
		{"clients find learners", func(f *operate.Findings) {
			judgeClientServices([]corev1.Service{*service(true)}, ready, members, "", f)
		}, "clients would be sent to a learner"},
		{"a probe that learners pass", func(f *operate.Findings) {
			judgeClientServices([]corev1.Service{*service(false)}, health, members, "", f)
		}, "a learner would become an endpoint of Service main"},
		{"no probe", func(f *operate.Findings) { judgeClientServices([]corev1.Service{*service(false)}, nil, members, "", f) }, "it has no readiness probe"},
		{"no probe, and the member is broken", func(f *operate.Findings) {
			judgeClientServices([]corev1.Service{*service(false)}, nil, members, "main-1", f)
		}, ""},
		{"clients find learners, and the member is broken", func(f *operate.Findings) {
			judgeClientServices([]corev1.Service{*service(true)}, ready, members, "main-1", f)
		}, "clients would be sent to a learner"},
		{"no Service for clients", func(f *operate.Findings) { judgeClientServices(nil, nil, members, "", f) }, ""},
	} {
		f := &operate.Findings{}
		c.judge(f)
		t.Run(c.name, func(t *testing.T) { t.Parallel(); refusedWith(t, f, c.want) })
	}
}

func TestPreflightCertificate(t *testing.T) {
	t.Parallel()
	made := func(names ...string) []byte {
		return certtest.Make(t, &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: names}, nil).CertPEM
	}
	hosts := []string{"main-3.main.team.svc", "main-4.main.team.svc"}
	for _, c := range []struct {
		name       string
		text       []byte
		want, warn string
	}{
		{"all names", made(hosts...), "", ""},
		{"a wildcard", made("*.main.team.svc"), "", ""},
		{"one name is not there", made("main-3.main.team.svc"), "the peer certificate is not valid for main-4.main.team.svc: it has main-3.main.team.svc", ""},
		{"a wildcard one level up", made("*.team.svc"), "not valid for main-3.main.team.svc", ""},
		{"no certificate", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}), "the peer certificate /tls.crt", ""},
		{"not readable", nil, "", "the peer certificate is valid for the new members (/tls.crt)"},
	} {
		f := &operate.Findings{}
		judgeCertificate("peer certificate", "/tls.crt", c.text, hosts, f)
		refusedWith(t, f, c.want)
		if got := strings.Join(f.Warnings, "\n"); !strings.Contains(got, c.warn) {
			t.Errorf("%s: warned %q, want %q", c.name, got, c.warn)
		}
	}
}

func TestPreflightNodes(t *testing.T) {
	t.Parallel()
	apart := func(key string, hard bool) *corev1.Pod {
		labels := map[string]string{"app": "main"}
		term := corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: labels}}
		a := &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}
		if !hard {
			a = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term}}}
		}
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Labels: labels}, Spec: corev1.PodSpec{Affinity: &corev1.Affinity{PodAntiAffinity: a}}}
	}
	six := []spread.Node{{Name: "1", Zone: "a"}, {Name: "2", Zone: "b"}, {Name: "3", Zone: "c"}, {Name: "4", Zone: "a"}, {Name: "5", Zone: "b"}, {Name: "6", Zone: "c"}}
	for _, c := range []struct {
		name  string
		pod   *corev1.Pod
		nodes []spread.Node
		want  string
	}{
		{"no terms", &corev1.Pod{}, six[:3], ""},
		{"nodes enough", apart(corev1.LabelHostname, true), six, ""},
		{"too few nodes", apart(corev1.LabelHostname, true), six[:4], "4 nodes match: 5 members could not be scheduled"},
		{"too few zones", apart(spread.ZoneKey, true), six, "3 zones match: 5 members could not be scheduled"},
		{"only a wish", apart(spread.ZoneKey, false), six, ""},
		{"another key", apart("rack", true), six, ""},
		{"no node", &corev1.Pod{}, nil, "no node matches"},
	} {
		f := &operate.Findings{}
		judgeNodes(terms.Self(c.pod), c.nodes, 5, f)
		t.Run(c.name, func(t *testing.T) { t.Parallel(); refusedWith(t, f, c.want) })
	}
}

// TestOldest: the readiness probe is judged by the lowest version, which is not the first in
// the order of texts.
func TestOldest(t *testing.T) {
	t.Parallel()
	members := []etcd.Member{{Version: "3.9.9"}, {Version: "3.5.27"}, {Version: "3.5.9"}, {Version: "3.4.1", Err: errors.New("silent")}, {}}
	if got := oldest(members); got != "3.5.9" {
		t.Errorf("the oldest is %q, want 3.5.9", got)
	}
	if got := oldest(nil); got != "" {
		t.Errorf("without members it is %q", got)
	}
}

// TestLeadsToNew: a Service is judged for clients if a new member becomes an endpoint of it, and is not the one in which
// the others find that member.
func TestLeadsToNew(t *testing.T) {
	t.Parallel()
	one := func(pod string) map[string]string { return map[string]string{appsv1.StatefulSetPodNameLabel: pod} }
	for _, row := range []struct {
		name     string
		selector map[string]string
		url      string
		want     bool
	}{
		{"all", map[string]string{"app": "main"}, "https://main-3.main.team.svc:2380", true},
		{"all, and clients are cut off", map[string]string{"app": "main", v1alpha1.ClientTrafficKey: "x"}, "https://main-3.main.team.svc:2380", true},
		{"a label that the template lacks", map[string]string{"added": "x"}, "https://main-3.main.team.svc:2380", true},
		{"another member", one("main-0"), "https://main-0.team.svc:2380", false},
		{"the new one, for clients", one("main-3"), "https://main-3.main.team.svc:2380", true},
		{"the new one, for peers", one("main-3"), "https://main-3.team.svc:2380", false},
	} {
		s := well()
		s.sts.Spec.ServiceName = "main"
		s.template.template.Labels = map[string]string{"app": "main"}
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main-3"}, Spec: corev1.ServiceSpec{Selector: row.selector}}
		if got := s.leadsToNew(service, []membership.Replica{{Pod: "main-3", URL: row.url}}); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}

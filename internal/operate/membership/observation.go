// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/etcdlog"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// Members changes the members of a cluster. It is for one goroutine. Close it.
type Members struct {
	Kube   client.Client
	Reader *observe.Reader
	Owner  owner.Owner
	// Tunnel and Credentials are for connections to members.
	Tunnel      *tunnel.Dialer
	Credentials access.Credentials
	// Logf logs each step that was done, and what is awaited. It is not nil.
	Logf func(format string, args ...any)
	// StillHeld returns an error when this process no longer holds the cluster's lock. Nil for
	// no lock.
	StillHeld func() error
	Clock     clock.Clock
	// Logs reads logs, which may show that a member's data is lost. Nil means that logs are
	// unknown.
	Logs etcdlog.Reader

	cluster *etcd.Cluster
	pods    string
	// listed are the IDs in the last member list.
	listed map[uint64]bool
	// near counts how often in a row each learner was close to its leader.
	near map[uint64]int
	// woken is when an entry was last committed for a learner.
	woken time.Time
}

// Close ends the connections to the members.
func (m *Members) Close() error {
	if m.cluster == nil {
		return nil
	}
	return m.cluster.Close()
}

// observation is the cluster as it was found once.
type observation struct {
	membership.ClusterState

	sts      *appsv1.StatefulSet
	pods     map[string]*corev1.Pod
	claims   map[string][]*corev1.PersistentVolumeClaim
	survey   etcd.Survey
	template podTemplate
	// probeTemplate is the template with other values wherever an operation writes. editErr is
	// why the template can't be edited, nil where it can.
	probeTemplate podTemplate
	editErr       error
	// container is the one that runs etcd, for pods without an entry in configs.
	container string
	// configs are the configurations of the pods of all ordinals, existing or not.
	configs []etcdconf.Config
	// names are members' names by peer URL.
	names map[string]string

	// before is what the operation restores. unproven means that it is only in the journal: the StatefulSet has neither a
	// mark nor these values.
	before   found
	unproven bool
}

// leader returns the pod of the leader.
func (s *observation) leader() (string, error) {
	if leader, ok := s.survey.Leader(); ok {
		return leader.Pod, nil
	}
	return "", errors.New("no member leads")
}

// observe reads everything. size is the least number of ordinals to read. j is nil before an operation
// has begun. Without a quorum the error is a *noQuorumError.
func (m *Members) observe(ctx context.Context, j *Change, size int) (*observation, error) {
	sts, err := operate.ReadStatefulSet(ctx, m.Kube, m.Owner)
	if err != nil {
		return nil, err
	}
	s := &observation{ClusterState: membership.ClusterState{TargetArgs: m.Owner.Target().String() + " -n " + m.Owner.Namespace}, sts: sts, pods: map[string]*corev1.Pod{}, claims: map[string][]*corev1.PersistentVolumeClaim{}, names: map[string]string{}}
	m.Owner.Replicas = ptr.Deref(s.sts.Spec.Replicas, 1)
	if j != nil && j.journal.Object != s.sts.UID {
		return nil, operate.HaltForGood("%s", j.journal.Replaced(s.sts))
	}
	if err := m.survey(ctx, s); err != nil {
		return nil, err
	}
	if err := checkNotAhead(s.survey); err != nil {
		return nil, err
	}
	s.statefulSet()
	if err := m.readTemplate(ctx, s); err != nil {
		return nil, err
	}
	ordinals := max(size, s.Replicas, len(s.survey.List))
	for name := range s.pods {
		ordinals = max(ordinals, m.Owner.Ordinal(name)+1)
	}
	if j != nil {
		ordinals = max(ordinals, j.Target, j.Replicas)
	}
	for ordinal := range ordinals {
		if err := m.readReplica(ctx, s, ordinal); err != nil {
			return nil, err
		}
	}
	m.matchMembers(s)
	if j != nil {
		err = s.readBefore(j)
	}
	return s, err
}

func (s *observation) statefulSet() {
	spec, status := &s.sts.Spec, &s.sts.Status
	s.Replicas = int(ptr.Deref(spec.Replicas, 1))
	s.OnDelete, s.Partition = strategyOf(spec.UpdateStrategy)
	if author, held := rollouts.AuthorStrategy(s.sts); held {
		_, s.AuthorPartition = strategyOf(*author)
		s.Held = true
	}
	s.Original = true
	s.Observed = status.ObservedGeneration >= s.sts.Generation
	s.AllUpdated = s.Observed && int(status.UpdatedReplicas) == s.Replicas && int(status.Replicas) == s.Replicas
}

// strategyOf returns the facts about an update strategy.
func strategyOf(strategy appsv1.StatefulSetUpdateStrategy) (onDelete bool, partition int) {
	if r := strategy.RollingUpdate; r != nil && r.Partition != nil {
		partition = int(*r.Partition)
	}
	return strategy.Type == appsv1.OnDeleteStatefulSetStrategyType, partition
}

// endpointsKey identifies what connections to pods depend on: a direct one has the address of its pod,
// which may be new while the pod is the same.
func endpointsKey(pods []*corev1.Pod) string {
	var key strings.Builder
	for _, p := range pods {
		fmt.Fprintln(&key, p.Name, p.UID, p.Status.PodIP)
	}
	return key.String()
}

// survey surveys the members that have pods now.
func (m *Members) survey(ctx context.Context, s *observation) error {
	pods, err := m.Reader.MemberPods(ctx, m.Owner)
	if err != nil {
		return err
	}
	for _, p := range pods {
		s.pods[p.Name] = p
	}
	if key := endpointsKey(pods); m.cluster == nil || m.pods != key || access.Transient(m.cluster.Endpoints) {
		if err := m.connect(ctx); err != nil {
			return err
		}
		m.pods = key
	}
	s.survey, err = m.cluster.Survey(ctx)
	if s.survey.Singles {
		return refuseSingles(m.Owner)
	}
	if err != nil {
		return err
	}
	if s.survey.ListErr != nil {
		return &noQuorumError{s.survey}
	}
	m.listed = map[uint64]bool{}
	for _, l := range s.survey.List {
		m.listed[l.ID] = true
	}
	return nil
}

func (m *Members) connect(ctx context.Context) error {
	endpoints, err := access.Endpoints(ctx, m.Reader, m.Owner, m.Credentials)
	if err != nil {
		return err
	}
	if m.cluster != nil {
		_ = m.cluster.Close() // to pods that are gone
	}
	m.cluster = &etcd.Cluster{Tunnel: m.Tunnel, Endpoints: endpoints}
	return nil
}

// readTemplate reads the pod template, and the ConfigMaps of its variables.
func (m *Members) readTemplate(ctx context.Context, s *observation) error {
	s.template = podTemplate{template: s.sts.Spec.Template, configs: map[string]map[string]string{}, versions: map[string]string{}}
	for _, c := range containers.Of(&s.template.template.Spec) {
		for _, name := range configNames(c) {
			var config corev1.ConfigMap
			err := m.Kube.Get(ctx, client.ObjectKey{Namespace: m.Owner.Namespace, Name: name}, &config)
			if apierrors.IsNotFound(err) {
				continue
			}
			if err != nil {
				return fmt.Errorf("read ConfigMap %s/%s: %w", m.Owner.Namespace, name, err)
			}
			s.template.configs[name], s.template.versions[name] = config.Data, config.ResourceVersion
		}
	}
	return nil
}

// configNames returns the ConfigMaps of a container's variables.
func configNames(c *corev1.Container) []string {
	var names []string
	for _, f := range c.EnvFrom {
		if f.ConfigMapRef != nil {
			names = append(names, f.ConfigMapRef.Name)
		}
	}
	for _, v := range c.Env {
		if v.ValueFrom != nil && v.ValueFrom.ConfigMapKeyRef != nil {
			names = append(names, v.ValueFrom.ConfigMapKeyRef.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// noQuorumError is returned where no member returned the member list.
type noQuorumError struct{ survey etcd.Survey }

func (e *noQuorumError) Error() string { return e.survey.ListErr.Error() }
func (e *noQuorumError) Unwrap() error { return e.survey.ListErr }

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
)

// Cluster is the members of one etcd cluster, each behind its own tunnel.
// Connections are made when they are needed and kept until Close. Several goroutines
// may use it.
type Cluster struct {
	Tunnel    *tunnel.Dialer
	Endpoints []Endpoint

	mu      sync.Mutex
	members map[string]*member // by pod
}

// Member is what one member says of itself, or why it says nothing.
type Member struct {
	Pod string
	// Err is why nothing below is known; nil when the member answered.
	Err error

	ID, ClusterID uint64
	Name          string
	Learner       bool
	Leader        bool
	// LeaderID is whom this member follows, 0 for nobody.
	LeaderID uint64
	Version  string
	// DBSize and DBSizeInUse are bytes; Quota is bytes, 0 where it is not known.
	DBSize, DBSizeInUse, Quota int64
	RaftTerm                   uint64
	RaftIndex, RaftApplied     uint64
	Revision                   int64
	// Alarms are those raised for this member, as any member knows them: NOSPACE,
	// CORRUPT. They come from Status, since the call for them is a write to etcd.
	Alarms []string
	// Errors are the member's own words of what is wrong.
	Errors []string
	// raised are the alarms that it knows of, by member ID.
	raised map[uint64][]string
	// CertificateExpiry is the serving certificate's, zero without TLS.
	CertificateExpiry time.Time
}

// Listed is one entry of the cluster's member list.
type Listed struct {
	ID         uint64
	Name       string
	PeerURLs   []string
	ClientURLs []string
	Learner    bool
	// Pod is the pod that this member runs in, empty where none matches.
	Pod string
}

// NameAndID returns the member's pod, or else its name, and its ID, as messages show it.
func (l Listed) NameAndID() string {
	return fmt.Sprintf("%s %016x", cmp.Or(l.Pod, l.Name, "(never started)"), l.ID)
}

// Survey is what all members said at one moment.
type Survey struct {
	// Members has one entry per endpoint, in its order.
	Members []Member
	// List is the member list as a member with quorum told it (linearizable);
	// ListErr is why there is none.
	List    []Listed
	ListErr error
	// Strays are the alarms of members that are not among those that are well: a pod
	// doesn't answer, has lost its data, or is gone.
	Strays []Alarm
}

// Outsiders are the pods whose etcd is no member: they don't say that they are one, and
// every entry of the list is another pod's. None where the list isn't known, or has an
// entry without a pod, which may be theirs.
func (s Survey) Outsiders() []string {
	if s.ListErr != nil || len(s.List) == 0 || slices.ContainsFunc(s.List, func(l Listed) bool { return l.Pod == "" }) {
		return nil
	}
	var pods []string
	for _, m := range s.Members {
		if m.Err != nil && !slices.ContainsFunc(s.List, func(l Listed) bool { return l.Pod == m.Pod }) {
			pods = append(pods, m.Pod)
		}
	}
	return pods
}

// SplitBrainError is members of one set of pods that belong to different etcd clusters.
type SplitBrainError struct {
	// Pods are those of each cluster ID.
	Pods map[uint64][]string
}

func (e *SplitBrainError) Error() string {
	var said []string
	for id, pods := range e.Pods {
		said = append(said, fmt.Sprintf("%s in cluster %016x", strings.Join(pods, ", "), id))
	}
	slices.Sort(said)
	return fmt.Sprintf("split brain: the members are of %d etcd clusters: %s", len(e.Pods), strings.Join(said, "; "))
}

// Survey asks all members at once. A member that doesn't answer, or is not the one
// that the cluster knows its pod by, is an entry with Err. It fails only where what
// the members say is of no use together, with what they said all the same: on a
// context that ends, a *SplitBrainError, and a refusal by the API server that was
// the answer for every pod.
func (c *Cluster) Survey(ctx context.Context) (Survey, error) {
	s := Survey{Members: make([]Member, len(c.Endpoints))}
	var wait sync.WaitGroup
	for i, e := range c.Endpoints {
		wait.Go(func() { s.Members[i] = c.Status(ctx, e.Pod) })
	}
	wait.Wait()
	if err := context.Cause(ctx); err != nil {
		return s, err
	}
	shareAlarms(s.Members)
	if err := refusedEverywhere(s.Members); err != nil {
		s.ListErr = err
		return s, err
	}
	if err := splitBrain(s.Members); err != nil {
		s.ListErr = err
		return s, err
	}
	if s.List, s.ListErr = c.list(ctx, s.Members); s.ListErr == nil {
		assign(s.List, c.Endpoints, s.Members)
		identify(s.Members, s.List)
	}
	s.Strays = strays(s.Members, s.List)
	return s, context.Cause(ctx)
}

// list is the member list by the first voter that tells it. All are asked: some may
// be cut off from the others and not know it yet.
func (c *Cluster) list(ctx context.Context, members []Member) ([]Listed, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		list []Listed
		err  error
	}
	answers := make(chan answer, len(members))
	asked := 0
	for _, m := range members {
		if m.Err != nil || m.Learner {
			continue
		}
		asked++
		go func() {
			err := c.quorate(ctx, m)
			var list []Listed
			if err == nil {
				list, err = c.listOf(ctx, m.Pod)
			}
			answers <- answer{list, err}
		}()
	}
	if asked == 0 {
		return nil, silence(members)
	}
	var errs []error
	for range asked {
		a := <-answers
		if a.err == nil {
			return a.list, nil
		}
		errs = append(errs, a.err)
	}
	return nil, fmt.Errorf("no quorum: %w", errors.Join(errs...))
}

// quorate has a member before etcd 3.5 show that it has a quorum: however one asks, it
// lists the members from its own memory, which may be old. A refusal comes after that.
func (c *Cluster) quorate(ctx context.Context, m Member) error {
	if v, err := version.ParseGeneric(m.Version); err != nil || v.AtLeast(version.MajorMinor(3, 5)) {
		return nil //nolint:nilerr // who tells no version is not that old
	}
	asked, err := c.member(ctx, m.Pod)
	if err != nil {
		return err
	}
	if _, err := asked.client.Get(ctx, "kubectl-etcd", clientv3.WithCountOnly()); err != nil && !Denied(err) {
		return Explain(asked.link.endpoint, err)
	}
	return nil
}

// silence says why nobody can be asked.
func silence(members []Member) error {
	for _, m := range members {
		if m.Err != nil {
			return fmt.Errorf("no voter answers: %w", m.Err)
		}
	}
	return errors.New("no voter answers")
}

func (c *Cluster) listOf(ctx context.Context, pod string, options ...clientv3.OpOption) ([]Listed, error) {
	m, err := c.member(ctx, pod)
	if err != nil {
		return nil, err
	}
	response, err := m.client.MemberList(ctx, options...)
	if err != nil {
		return nil, Explain(m.link.endpoint, err)
	}
	list := make([]Listed, 0, len(response.Members))
	for _, l := range response.Members {
		list = append(list, listed(l))
	}
	return list, nil
}

// OwnList is the member list as one member has it, whatever the others say: that
// of a member which is cut off is old, and no quorum is needed to be told it.
func (c *Cluster) OwnList(ctx context.Context, pod string) ([]Listed, error) {
	list, err := c.listOf(ctx, pod, clientv3.WithSerializable())
	assign(list, c.Endpoints, nil)
	return list, err
}

func listed(m *pb.Member) Listed {
	return Listed{ID: m.ID, Name: m.Name, PeerURLs: m.PeerURLs, ClientURLs: m.ClientURLs, Learner: m.IsLearner}
}

// identify takes the names from the list, and marks the members that are not whom the
// list expects in their pods: a data directory from elsewhere, a member that was
// removed and still runs.
func identify(members []Member, list []Listed) {
	for i := range members {
		m := &members[i]
		if m.Err != nil {
			continue
		}
		self := slices.IndexFunc(list, func(l Listed) bool { return l.ID == m.ID })
		due := slices.IndexFunc(list, func(l Listed) bool { return l.Pod == m.Pod })
		switch {
		case self >= 0 && self == due:
			m.Name = list[self].Name
			continue
		case due >= 0:
			m.Err = fmt.Errorf("runs member %016x, and the member list has %016x for it", m.ID, list[due].ID)
		default:
			m.Err = fmt.Errorf("runs member %016x, which the member list doesn't have", m.ID)
		}
		m.Err = &MemberError{Pod: m.Pod, Words: m.Err.Error(), Err: errStranger}
	}
}

var errStranger = errors.New("another member than expected")

func splitBrain(members []Member) error {
	pods := map[uint64][]string{}
	for _, m := range members {
		if m.Err == nil {
			pods[m.ClusterID] = append(pods[m.ClusterID], m.Pod)
		}
	}
	if len(pods) < 2 {
		return nil
	}
	return &SplitBrainError{Pods: pods}
}

// refusedEverywhere is the API server's refusal where it refused every pod.
func refusedEverywhere(members []Member) error {
	for _, m := range members {
		if !apierrors.IsForbidden(m.Err) && !apierrors.IsUnauthorized(m.Err) {
			return nil
		}
	}
	if len(members) == 0 {
		return nil
	}
	return errors.Unwrap(members[0].Err)
}

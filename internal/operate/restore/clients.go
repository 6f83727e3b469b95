// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// SetSurvey fills in the facts from a survey of the members. split means that they belong to
// several clusters.
func (r *Plan) SetSurvey(s etcd.Survey, split bool) {
	r.ClusterIDs, r.Answered = nil, nil
	for _, m := range s.Members {
		if m.Err != nil {
			continue
		}
		r.Answered = append(r.Answered, m.Pod)
		r.Etcd, r.Newest = cmp.Or(r.Etcd, m.Version), max(r.Newest, m.Revision)
		r.Database = max(r.Database, m.DBSize)
		if id := etcd.HexID(m.ClusterID); m.ClusterID != 0 && !slices.Contains(r.ClusterIDs, id) {
			r.ClusterIDs = append(r.ClusterIDs, id)
		}
	}
	r.List, r.Led, r.Split = s.List, s.Followed() != 0, split
	r.Singles, r.Others = s.Singles, nil
	for _, m := range s.Others {
		r.Others, r.Newest = append(r.Others, m.Pod), max(r.Newest, m.Revision)
	}
	r.Answers = !split && len(etcd.SnapshotOrder(s.Members)) > 0
}

// findClients finds out whether client traffic can be cut: a refused step ends the script.
func (r *Plan) findClients(ctx context.Context, kube client.Client, reader *observe.Reader) error {
	found, err := traffic.FindServices(ctx, reader, r.Owner, "", r.ClientPort)
	if err != nil || len(found.Chosen) == 0 {
		return err
	}
	if r.Uncut, err = r.uncut(ctx, kube, reader, found.Chosen); err != nil {
		return err
	}
	r.Clients = r.Uncut == ""
	if r.Before, err = traffic.FindBefore(ctx, kube, reader, r.Owner, r.At); err != nil {
		return err
	}
	for i := range found.Chosen {
		if _, cut := r.Before.Ends[found.Chosen[i].Name]; !cut && r.isCut() {
			r.Open = append(r.Open, found.Chosen[i].Name)
		}
	}
	return nil
}

// uncut returns why client traffic can't be cut now, empty if it can.
func (r *Plan) uncut(ctx context.Context, kube client.Client, reader *observe.Reader, services []corev1.Service) (string, error) {
	for i := range services {
		if obstacle, err := traffic.ServiceObstacle(ctx, reader, r.Owner, &services[i]); err != nil || obstacle != "" {
			return obstacle, err
		}
	}
	if obstacle := r.joining(services); obstacle != "" {
		return obstacle, nil
	}
	if journal.CanExist(r.Owner) {
		j, err := journal.Read(ctx, kube, r.Owner)
		switch {
		case err != nil && !apierrors.IsForbidden(err):
			return "", err
		case err == nil && j != nil:
			return fmt.Sprintf("kubectl etcd %s is under way", j.Kind), nil
		}
	}
	// If the user lacks permissions for these facts, the command itself reports it.
	c, err := reader.Cluster(ctx, r.Owner)
	if err == nil && c.Operation != "" {
		return "a change is under way (" + c.Operation + ")", nil
	}
	return "", context.Cause(ctx)
}

// joining returns which member needs the clients' Services, empty for none.
func (r *Plan) joining(services []corev1.Service) string {
	for _, m := range r.List {
		if m.Learner {
			return fmt.Sprintf("member %s is a learner, and can need them to be promoted", m.NameAndID())
		}
	}
	return traffic.PeerObstacle(services, traffic.ListedPeers(r.List))
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// StaysCut is a Service whose client traffic stays cut, because an operation has stopped members behind it.
type StaysCut struct {
	client.ObjectKey

	By *memberservices.Stopped
}

// judgeCuts moves the Services that stay cut from Cut to StaysCut, and leaves out the records of their cuts.
func (u *Uninstaller) judgeCuts(ctx context.Context, found *Installation) error {
	all := found.Cut
	found.Cut, found.StaysCut = nil, nil
	for i := range all {
		by, err := memberservices.StoppedBehind(ctx, u.Reader, &all[i])
		switch {
		case err != nil:
			return err
		case by == nil:
			found.Cut = append(found.Cut, all[i])
			continue
		}
		found.StaysCut = append(found.StaysCut, StaysCut{client.ObjectKeyFromObject(&all[i]), by})
		found.Records = slices.DeleteFunc(found.Records, func(p Object) bool {
			return p.Namespace == by.Owner.Namespace && p.Name == lock.Name(by.Owner)
		})
	}
	return nil
}

// staysCut returns whole sentences: why client traffic is not restored, and the commands that end that.
func (u *Uninstaller) staysCut(s StaysCut) string {
	return fmt.Sprintf("Client traffic of Service %s stays cut, because clients could reach members without data: %s. Nothing maintains or ends that cut any more. That operation restores client traffic at its end: %s",
		s.ObjectKey, s.By, s.By.Ways(u.Flags))
}

// restore ends the cut of a Service as restore-client-traffic does: under the cluster's lock, with
// all Services of the cluster that are cut, and with the record of the cut.
func (u *Uninstaller) restore(ctx context.Context, key client.ObjectKey) error {
	var service corev1.Service
	if err := u.Kube.Get(ctx, key, &service); err != nil {
		return client.IgnoreNotFound(err)
	}
	// An operation may have stopped members since the plan.
	switch by, err := memberservices.StoppedBehind(ctx, u.Reader, &service); {
	case err != nil:
		return err
	case by != nil:
		u.Warnf("%s", u.staysCut(StaysCut{key, by}))
		return nil
	}
	o, err := u.ownerOfService(ctx, &service)
	if err != nil {
		return err
	}
	if o == nil { // the Service selects no members any more
		return u.restoreAlone(ctx, key)
	}
	services, err := traffic.CutServices(ctx, u.Reader, *o)
	if err != nil {
		return err
	}
	var names []string
	for i := range services {
		names = append(names, services[i].Name)
	}
	if !slices.Contains(names, key.Name) {
		return u.restoreAlone(ctx, key) // a cut by the plugin wouldn't choose this Service: it was cut by hand
	}
	return u.Restore(ctx, *o, names)
}

// restoreAlone ends the cut of a Service that belongs to no cluster.
func (u *Uninstaller) restoreAlone(ctx context.Context, key client.ObjectKey) error {
	if _, err := traffic.Restore(ctx, u.Kube, key); err != nil {
		return err
	}
	u.Logf("Client traffic through Service %s is restored", key)
	return nil
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package sweep finds what operations of kubectl etcd, etcd-webhook and members that are gone have
// left behind, and removes what the rule of policy/sweep allows. It reads facts, and asks the members
// of a cluster only if a lease, a volume claim or a held rollout depends on their answer.
package sweep

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/olddata"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// Webhook is what is known of etcd-webhook, and how what it changed is restored.
type Webhook interface {
	Installed(ctx context.Context) (bool, error)
	Budgets(ctx context.Context, namespace string) ([]policyv1.PodDisruptionBudget, error)
	Rollouts(ctx context.Context, namespace string) ([]appsv1.StatefulSet, error)
	// SizeWarnings returns warnings about what only the record of a budget shows.
	SizeWarnings(ctx context.Context, budget *policyv1.PodDisruptionBudget) []string
	RestoreBudget(ctx context.Context, budget *policyv1.PodDisruptionBudget, dry bool) error
	RestoreRollout(ctx context.Context, sts *appsv1.StatefulSet, dry bool) error
}

// Sweeper finds and removes leftovers.
type Sweeper struct {
	Kube    client.Client
	Reader  *observe.Reader
	Clock   clock.Clock
	Webhook Webhook
	// Survey asks the members of a cluster.
	Survey func(ctx context.Context, o owner.Owner) (etcd.Survey, error)
	// Discard removes the old data that some records of a cluster's restores are about, under the cluster's lock.
	// With dry it only judges.
	Discard func(ctx context.Context, o owner.Owner, due olddata.Records, dry bool) error
	// Flags are the user's flags of kubectl for commands that are printed, each after a space. Login
	// are those with credentials for etcd.
	Flags, Login string
	// Waiting is called if the holder of a lock may be dead, with the time to wait for it.
	Waiting func(lock.Holder, time.Duration)
	// Removed is called after an object is removed. It may be nil.
	Removed func(ctx context.Context, item *Item)
	// Logf reports each completed step.
	Logf func(format string, args ...any)
}

// Item is one object that may be left over.
type Item struct {
	Facts  rules.Facts
	Result rules.Result
	// Resource and Group are its kind as a Role names it.
	Resource, Group string
	Namespace, Name string
	// Cluster is the cluster as a command's argument. It is the name alone if the cluster is gone, and
	// empty if it is not known.
	Cluster string
	// Owner is nil if the cluster is gone or not known.
	Owner *owner.Owner
	// Since is when it, or its operation, began, zero for unknown.
	Since time.Time
	// Ways are the commands that remove it, or that end what it is part of.
	Ways []string

	// due are the records of old data whose deadline has passed.
	due olddata.Records
	// needs are the permissions to remove old data.
	needs []operate.Need
	// warnings are about what its removal loses.
	warnings []string
	// note follows the message of the verdict.
	note    string
	object  client.Object
	journal *journal.Journal
	// names are the names of its cluster.
	names []string
}

// Unseen is what could not be read, and why.
type Unseen struct{ What, Why string }

// State is the result of one search.
type State struct {
	// Items are all that were found, in the order of kinds, namespaces and names.
	Items []Item
	// Unseen has what could not be read. Leftovers may be missing for this reason.
	Unseen []Unseen
}

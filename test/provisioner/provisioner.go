// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package provisioner makes volumes for a testbed: directories below one root
// that every node sees, each usable only in one zone or on one node, as a
// cloud's disk or a local one would be.
package provisioner

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
)

// Name is what a StorageClass calls this provisioner.
const Name = "testbed.kubectl-etcd.dev/local"

// provisioner holds what it sees of the cluster. Its queue carries claims as
// namespace/name and volumes as plain names.
type provisioner struct {
	root    string
	client  kubernetes.Interface
	events  record.EventRecorder
	queue   workqueue.TypedRateLimitingInterface[string]
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	nodes   corelisters.NodeLister
	classes storagelisters.StorageClassLister
}

// Run provisions until the context ends. root is seen at the same path on every
// node.
func Run(ctx context.Context, config *rest.Config, root string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	factory := informers.NewSharedInformerFactory(client, 0)
	p := &provisioner{
		root: root, client: client,
		events:  broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: Name}),
		queue:   workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](100*time.Millisecond, 10*time.Second)),
		claims:  factory.Core().V1().PersistentVolumeClaims().Lister(),
		volumes: factory.Core().V1().PersistentVolumes().Lister(),
		nodes:   factory.Core().V1().Nodes().Lister(),
		classes: factory.Storage().V1().StorageClasses().Lister(),
	}
	for _, informer := range []cache.SharedIndexInformer{
		factory.Core().V1().PersistentVolumeClaims().Informer(), factory.Core().V1().PersistentVolumes().Informer(),
	} {
		if _, err := informer.AddEventHandler(p.enqueuer()); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	for kind, ok := range factory.WaitForCacheSync(ctx.Done()) {
		if !ok {
			return fmt.Errorf("watch %s: stopped before the first list", kind)
		}
	}
	go func() {
		<-ctx.Done()
		p.queue.ShutDown()
	}()
	p.work(ctx)
	return nil
}

func (p *provisioner) enqueuer() cache.ResourceEventHandler {
	add := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			p.queue.Add(key)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, object any) { add(object) }}
}

// work is one worker on purpose: a class that deals its volumes to the zones in
// turn counts those that are there.
func (p *provisioner) work(ctx context.Context) {
	for {
		key, shutdown := p.queue.Get()
		if shutdown {
			return
		}
		if err := p.sync(ctx, key); err != nil {
			fmt.Printf("%s: %v\n", key, err) //nolint:forbidigo // a process of its own, whose output is its log
			p.queue.AddRateLimited(key)
		} else {
			p.queue.Forget(key)
		}
		p.queue.Done(key)
	}
}

func (p *provisioner) sync(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	if namespace == "" {
		return p.syncVolume(ctx, name)
	}
	return p.syncClaim(ctx, namespace, name)
}

// ours returns the claim's class when this provisioner has to act on it now.
func (p *provisioner) ours(claim *corev1.PersistentVolumeClaim) (*storagev1.StorageClass, error) {
	if claim.Spec.StorageClassName == nil || claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil {
		return nil, nil
	}
	class, err := p.classes.Get(*claim.Spec.StorageClassName)
	if err != nil || class.Provisioner != Name {
		return nil, err
	}
	waits := class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
	if waits && claim.Annotations[selectedNode] == "" {
		return nil, nil // the scheduler hasn't chosen yet
	}
	return class, nil
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// firstPage is how many objects the first page of a list has. Their size is not known, and may be 1.5 MiB each.
	firstPage = 10
	// mostInPage is how many objects any other page has at most, and pageSize about how many bytes.
	mostInPage = 500
	pageSize   = 4 << 20
	// pagesAtOnce is how many pages are read at the same time, for all namespaces.
	pagesAtOnce = 4
	// mostListed bounds what is kept of one list, in bytes. That is enough for 10,000 pods.
	mostListed = 16 << 20
)

// listInPages lists the objects of one namespace page by page, and keeps of each as much as the cache would. A namespace
// lists one kind at a time, because what a user writes there makes the lists long.
func (b *bounded) listInPages(ctx context.Context, namespace string, list client.ObjectList, opts []client.ListOption) error {
	done, err := take(ctx, b.share(ctx, namespace).lists)
	if err != nil {
		return err
	}
	defer done()
	out, err := itemsOf(list)
	if err != nil {
		return err
	}
	kept, limit, next := 0, firstPage, ""
	for {
		page := reflect.New(reflect.TypeOf(list).Elem()).Interface().(client.ObjectList) //nolint:forcetypeassert // it has the type of the list
		read, err := b.readPage(ctx, namespace, page, slices.Concat(opts, []client.ListOption{client.Limit(int64(limit)), client.Continue(next)}))
		if err != nil {
			return err
		}
		items, err := itemsOf(page)
		if err != nil {
			return err
		}
		if kept += sizeOf(page); kept > mostListed {
			return fmt.Errorf("namespace %q has too many objects: a list of more than %d MiB is not read", namespace, mostListed>>20)
		}
		out.Set(reflect.AppendSlice(out, items))
		list.SetResourceVersion(page.GetResourceVersion())
		if next = page.GetContinue(); next == "" {
			return nil
		}
		limit = max(1, min(mostInPage, pageSize*items.Len()/max(1, read)))
	}
}

// readPage reads one page and trims it. It returns how many bytes the page had before.
func (b *bounded) readPage(ctx context.Context, namespace string, page client.ObjectList, opts []client.ListOption) (read int, err error) {
	if err := b.wait(ctx, namespace); err != nil {
		return 0, err
	}
	done, err := take(ctx, b.pages)
	if err != nil {
		return 0, err
	}
	defer done()
	if err := b.Reader.List(ctx, page, opts...); err != nil {
		return 0, err
	}
	read = sizeOf(page)
	b.charge(ctx, namespace, read)
	return read, meta.EachListItem(page, trimListed)
}

// itemsOf returns the items of a list, which can be set.
func itemsOf(list client.ObjectList) (reflect.Value, error) {
	items, err := meta.GetItemsPtr(list)
	if err != nil {
		return reflect.Value{}, err
	}
	return reflect.ValueOf(items).Elem(), nil
}

// sizeOf returns about how many bytes an object or a list has, 0 for kinds that don't report it.
func sizeOf(o any) int {
	if sized, ok := o.(interface{ Size() int }); ok {
		return sized.Size()
	}
	return 0
}

// take takes one of the slots of a semaphore as soon as one is free, and returns what frees it.
func take(ctx context.Context, slots chan struct{}) (free func(), err error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

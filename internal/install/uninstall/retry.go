// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// restoreTries is how often an object is restored that other clients write at the same time.
const restoreTries = 10

// retryRestore calls restore, which writes an object if it is as it was read. After another client has
// written the object it reads the object again, and retries. It reports whether the object is restored:
// an object that is gone is not, and needs nothing. what is the object in errors.
func retryRestore[T any, P interface {
	*T
	client.Object
}](ctx context.Context, kube client.Reader, what string, o P, restore func() error,
) (bool, error) {
	for range restoreTries {
		err := restore()
		if apierrors.IsConflict(err) {
			var now T // a new one, since a read into an object leaves the annotations that are removed
			if err = kube.Get(ctx, client.ObjectKeyFromObject(o), P(&now)); err == nil {
				*o = now
				continue
			}
			err = fmt.Errorf("restore %s: %w", what, err)
		}
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	}
	return false, fmt.Errorf("restore %s: other clients changed it in each of %d attempts: run the command again", what, restoreTries)
}

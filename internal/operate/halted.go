// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// HaltedError is why an operation can't continue. If it has a journal, that stays.
type HaltedError struct {
	message string
	// Final is true if no command continues or undoes the operation. The message has the way to end it.
	Final bool
}

func (e *HaltedError) Error() string { return e.message }

// Halt returns a HaltedError.
func Halt(format string, args ...any) error {
	return &HaltedError{message: fmt.Sprintf(format, args...)}
}

// HaltForGood returns a final HaltedError.
func HaltForGood(format string, args ...any) error {
	return &HaltedError{message: fmt.Sprintf(format, args...), Final: true}
}

// Permanent reports whether a retry won't help: the operation can't continue, or the API server
// refuses the request itself.
func Permanent(err error) bool {
	return errors.As(err, new(*HaltedError)) || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsUnauthorized(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsMethodNotSupported(err)
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package certificate keeps the serving certificate of etcd-webhook, and sees to
// it that no admission fails while that certificate or its authority changes.
//
// What is true stands in the cluster: one Secret has the authority and the
// certificate, the webhook configuration says whom API servers trust. Every
// replica makes the same passes over both, one small step at a time, and each
// write carries the version that was read, so that replicas need no leader here:
//
//   - A new authority is first only announced in the Secret. It signs after every
//     webhook has trusted it, unchanged, for the settle time.
//   - An authority that signs no more stays trusted for as long as a certificate
//     that it signed can live.
//   - A replica goes over to another authority's certificate only if every
//     webhook has trusted that one for the settle time, whoever put it there.
//
// The same last rule holds for certificates that somebody else keeps in files,
// such as cert-manager. The package knows nothing of what is served.
package certificate

/** The worker that shows notifications; null where the browser refuses it, as with a certificate that it does not trust. */
let registered: Promise<ServiceWorkerRegistration | null> | undefined

export function registerServiceWorker(): Promise<ServiceWorkerRegistration | null> {
  registered ??=
    'serviceWorker' in navigator
      ? navigator.serviceWorker.register('/worker.js').catch(() => null)
      : Promise.resolve(null)
  return registered
}

// Service worker: it lets the page be installed and shows what waits as notifications. Pages and data always come
// from the service; the one thing that is kept says that the service can't be reached.
const kept = 'gatehouse-away'
const away = '/away.html'

self.addEventListener('install', (event) => {
  event.waitUntil(
    caches.open(kept).then((cache) => cache.add(new Request(away, { cache: 'reload' }))),
  )
  self.skipWaiting()
})

self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

self.addEventListener('fetch', (event) => {
  if (event.request.mode !== 'navigate') return
  event.respondWith(
    fetch(event.request).catch(async () => (await caches.match(away)) ?? Response.error()),
  )
})

/** Opens the request in a window that is there already, without loading it again, or in a new one. */
async function open(path) {
  const [window] = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  if (!window) return self.clients.openWindow(path)
  window.postMessage({ kind: 'open', path })
  return window.focus()
}

self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(open(event.notification.data?.path ?? '/approvals'))
})

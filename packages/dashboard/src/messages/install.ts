export const installText = {
  asks: (agent: string, what: string) => `${agent} asks for ${what}`,
  asksQuestion: (server: string) => `${server} asks a question`,
  body: 'Open it to see what would happen and to decide.',
  title: 'On this device',
  notify: 'Notify me of new requests',
  notifyHint:
    'Works while Gatehouse is open, or installed and running in the background. Nothing leaves this machine.',
  elsewhere:
    'To be notified while it is closed, add ntfy, a webhook, Slack or mail under “notifications” in gatehouse.yaml.',
  denied:
    'The browser blocks notifications of this page. Allow them in the browser’s settings for this site.',
  unsupported: 'This browser doesn’t support notifications.',
  noWorker:
    'The browser does not trust the certificate of this page, so it can’t be installed. Run gatehouse trust on the machine, or use a certificate of your own.',
  install: 'Install as an app',
  installHint: 'It gets its own window and icon; on a phone it is on the home screen.',
  installElsewhere: 'In the menu of the browser: “Install” or “Add to Home Screen”.',
} as const

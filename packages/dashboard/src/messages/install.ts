export const installText = {
  asks: (agent: string, what: string) => `${agent} asks for ${what}`,
  asksQuestion: (server: string) => `${server} asks a question`,
  body: 'Open it to see what would happen, and decide.',
  title: 'On this device',
  notify: 'Tell me when something waits',
  notifyHint:
    'While Gatehouse is open or installed and running, also in the background. Nothing leaves this machine.',
  elsewhere:
    'To be told while it is closed, name ntfy, a webhook, Slack or mail under “notifications” in gatehouse.yaml.',
  denied:
    'The browser does not let this page show notifications. Allow it in the settings of the browser for this site.',
  unsupported: 'This browser has no notifications for pages.',
  noWorker:
    'The browser does not trust the certificate of this page, so it can’t be installed. Run gatehouse trust on the machine, or use a certificate of your own.',
  install: 'Install as an app',
  installHint: 'A window and an icon of its own; on a phone it stands on the home screen.',
  installElsewhere: 'In the menu of the browser: “Install” or “Add to Home Screen”.',
} as const

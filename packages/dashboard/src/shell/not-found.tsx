import { shellText } from '../messages/shell.ts'
import { LinkButton } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'

export const NotFound = () => (
  <Page title={shellText.notFound} intro={shellText.notFoundIntro}>
    <LinkButton to="/">{shellText.home}</LinkButton>
  </Page>
)

import type { ErrorComponentProps } from '@tanstack/react-router'
import { shellText } from '../messages/shell.ts'
import { Button } from '../ui/button.tsx'
import { Failure } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'

/** A page that broke, within the frame that goes on. */
export const PageFailed = ({ error }: ErrorComponentProps) => (
  <Page title={shellText.failed} intro={shellText.failedNext}>
    <div className="grid justify-items-start gap-3">
      <Failure error={error} />
      <Button onClick={() => location.reload()}>{shellText.reload}</Button>
    </div>
  </Page>
)

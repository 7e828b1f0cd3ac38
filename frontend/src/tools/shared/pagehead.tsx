/** What stands above the tables of most pages: the headline with the way on, and what the tool notes on its figures. */

import { joinSentences } from "../../base/messages";
import { linkTo } from "../../state/links";
import { Notes } from "../../view/problems";
import { Verdict } from "../../view/verdict";
import type { PageProps } from "../page";

/** `more` is a sentence that follows the headline. */
export function PageHead({ page, more = "" }: { page: PageProps; more?: string }) {
  const { answer, store } = page;
  const { headline, notes } = answer;
  return (
    <>
      {headline && (
        <Verdict {...headline} text={joinSentences(headline.text, more)} next={linkTo(store, headline.tool)} />
      )}
      <Notes notes={notes} store={store} />
    </>
  );
}

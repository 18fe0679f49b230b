// The offer of a stronger network, in the settings and below a review. It is loaded only when a button is pressed.
import {button} from "./elements.js";
import {number, say, text} from "./words.js";

export class Offer {
  constructor(send) {
    this.send = send;
    this.places = document.querySelectorAll(".offer");
  }

  show({offer, loading}) {
    Object.assign(this, {offer, loading});
    for (const place of this.places) {
      place.hidden = !offer;
      if (!offer) continue;
      if (!place.children.length) this.fill(place);
      const [said, progress, choice, licence] = place.children, size = number(offer.megabytes, 1);
      const values = {network: offer.network, host: offer.host, size};
      const done = loading && number(loading.done / 1e6, 1);
      say(said, loading ? text("networkLoading", {...values, done}) : text("networkOffer"));
      say(choice, loading ? text("stop") : text("networkGet", values));
      say(licence, text("networkLicence", {licence: offer.licence}));
      licence.href = offer.licenceAddress;
      progress.hidden = !loading;
      progress.ariaLabel = said.textContent;
      if (loading && loading.total) Object.assign(progress, {max: loading.total, value: loading.done});
      else progress.removeAttribute("value");
    }
  }

  fill(place) {
    const licence = document.createElement("a");
    Object.assign(licence, {target: "_blank", rel: "noopener noreferrer"});
    const press = () => this.send(this.loading ? {type: "stop-network"} : {type: "get-network", name: this.offer.name});
    place.append(document.createElement("span"), document.createElement("progress"), button("", press), licence);
  }
}

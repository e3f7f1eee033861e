"""The words of which texts of a probe are made, all of our own; a sentence takes one of each of the last four."""

from __future__ import annotations


def _words(text: str, mark: str | None = None) -> tuple[str, ...]:
    return tuple(" ".join(part.split()) for part in text.split(mark))


ADJECTIVES = _words(
    """amber ancient blunt brass bright broken calm careful clever coarse copper crimson crooked curious damp distant
    dusty eager faded fearless frosty gentle golden grand hollow humble icy idle jolly keen lazy lively lonely loud
    lucky merry misty modest muddy narrow noble odd pale patient plain polite proud quick quiet rapid rough rusty salty
    secret silent silver simple slender smooth snowy solid spare stormy striped sturdy swift tame tidy tiny velvet"""
)
NOUNS = _words(
    """acorn anchor apron arrow badger barrel basket beacon blanket bottle bramble bridge bucket button cabin candle
    canoe carpet castle clock compass cradle cricket crown curtain dolphin drum eagle engine falcon feather fiddle
    fountain garden goblet hammer harbour hedgehog helmet heron island kettle kite ladder lantern lemon lizard magnet
    maple marble meadow mirror needle otter paddle pebble pepper pillow pumpkin quarry rabbit ribbon rocket saddle"""
)
NAMES = _words(
    """Adaeze Agnieszka Akira Amara Anders Anouk Aziz Beatriz Bram Camila Chidi Dagny Dalia Dimitri Elif Emeka Esra
    Farid Fatou Freya Gustavo Hana Henrik Ilona Ines Jomo Jorge Kaito Kamala Katya Kofi Lars Leila Linh Malik Marit"""
)
TIMES = _words(
    """Before noon | On most evenings | After the rain | In early spring | Just before dawn | Once a month
    | On market days | After supper | On a foggy morning | At half past four | As the sun sets | In the quiet hours""",
    "|",
)
PEOPLE = _words(
    """baker | gardener | teacher | clockmaker | sailor | librarian | postman | carpenter | night nurse | beekeeper
    | shepherd | ferry captain | tailor | potter | bus driver | map maker | blacksmith | chess player | miller""",
    "|",
)
DOINGS = _words(
    """mends a fence | counts the geese | reads the newspaper | sweeps the steps | sells pears | tunes a piano
    | draws a boat | looks for a lost glove | repairs a bicycle | feeds two cats | sharpens the tools | folds the sails
    | waits for the mail | stacks firewood | carries water | studies the clouds | polishes the brass""",
    "|",
)
PLACES = _words(
    """near the canal | behind the town hall | under the big oak | beside the railway | in the upper meadow
    | next to the bakery | by the harbour wall | on the bridge | in a small courtyard | along the river
    | at the crossroads | past the windmill | at the old quarry | between the greenhouses | on the lower road""",
    "|",
)
PAIRS = (  # a fact, and a question that shares no word with it: what joins them is known of the world
    ("{} lives next to the Louvre.", "Who has a home in Paris?"),
    ("{} works at the foot of Mount Fuji.", "Who has a job in Japan?"),
    ("{} was born within sight of the Colosseum.", "Who comes from Rome?"),
    ("{} sells tickets at the Kremlin.", "Who is employed in Moscow?"),
    ("{} grew up beside the pyramids of Giza.", "Who spent a childhood in Egypt?"),
    ("{} guards the Taj Mahal at night.", "Who has a post in India?"),
    ("{} swims in Sydney Harbour on Sundays.", "Who can be met in Australia?"),
    ("{} cannot drink milk or eat cheese.", "Who should avoid dairy?"),
    ("{} never eats meat or fish.", "Who is a vegetarian?"),
    ("{} spends each day filling cavities and pulling molars.", "Who is a dentist?"),
    ("{} flies a passenger jet across the Atlantic.", "Who is a pilot?"),
    ("{} stitches wounds in the emergency ward.", "Who is a doctor?"),
)

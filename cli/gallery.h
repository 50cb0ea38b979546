/* gallery: ready models that come with the program, and the meaning of MODEL on the command line. */
#ifndef CLI_GALLERY_H
#define CLI_GALLERY_H

/* Folder of the gallery: $MBGRAD_GALLERY, else share/mbgrad/gallery beside the program, the source tree it was built
   from, or where it was to be installed; whichever is there. NULL when there is none. To be freed. */
char *cli_gallery_folder(void);

/* Names of the models in it, sorted; returns their number. */
int cli_gallery_names(char ***names);
void cli_gallery_names_destroy(char **names, int count);

/* Path of the folder of a gallery model, to be freed; NULL for an unknown name. */
char *cli_gallery_find(const char *name);
/* The nearest name in the gallery, to be freed; NULL when none is near. */
char *cli_gallery_nearest(const char *name);

/* The model file that MODEL means: a file, a folder that holds model.json, or a name in the gallery. To be freed; NULL
   after a message that says what would be right. */
char *cli_model_path(const char *model);

#endif
